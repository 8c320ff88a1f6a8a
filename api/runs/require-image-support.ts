import type { Attachment } from '../../flow/attachment.ts';
import type { FlowDefinition } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { applyOverride, type BlockOverrides, overrideOf } from '../../flow/overrides.ts';
import { listBlocks } from '../../flow/plan.ts';
import { type LiveRegistry, RETRY_SECONDS } from '../../models/live-registry.ts';
import { RetryLater } from '../http/retry-later.ts';

/**
 * Throws MODEL_MIME_INCOMPATIBLE unless the model of every llm block takes every attachment, as the run's overrides make
 * the block; CAPABILITY_REGISTRY_UNAVAILABLE, with Retry-After, while that cannot be told.
 */
export function requireImageSupport(
  registry: LiveRegistry,
  run: { definition: FlowDefinition; overrides: BlockOverrides; attachments: Attachment[] },
): void {
  if (run.attachments.length === 0) return;
  if (!registry.isAvailable())
    throw new RetryLater(
      'CAPABILITY_REGISTRY_UNAVAILABLE',
      `It is not known yet which models take images: try again in ${RETRY_SECONDS} s.`,
      RETRY_SECONDS,
    );
  for (const stored of listBlocks(run.definition)) {
    const { step_id } = stored;
    const block = applyOverride(stored, overrideOf(run.overrides, step_id));
    if (block.processor_type !== 'llm') continue;
    const { model = '' } = block;
    const taken = imageMimeTypes(registry, model);
    for (const [index, { mime_type }] of run.attachments.entries())
      if (!taken.includes(mime_type))
        throw new ServiceError(
          'MODEL_MIME_INCOMPATIBLE',
          `attachments.${index}.mime_type: ${model}, the model of block ${step_id}, does not take ${mime_type}.`,
          { step_id, model, unsupported_mime: mime_type, index },
        );
  }
}

/** None of a model that is not known, which no run can use. */
function imageMimeTypes(registry: LiveRegistry, model: string): string[] {
  try {
    return registry.capabilities(model).image_mime_types;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'MODEL_NOT_CONFIGURED') return [];
    throw error;
  }
}
