import type { Attachment } from '../../../flow/attachment.ts';
import type { FlowDefinition } from '../../../flow/definition.ts';
import { ServiceError } from '../../../flow/errors.ts';
import { applyOverride, type BlockOverrides, overrideOf } from '../../../flow/overrides.ts';
import { listBlocks } from '../../../flow/plan.ts';
import { type LiveRegistry, RETRY_SECONDS } from '../../../platform/models/live-registry.ts';
import { RetryLater } from '../../http/retry-later.ts';

/**
 * Throws MODEL_MIME_INCOMPATIBLE unless the model of every llm block, after overrides, accepts every attachment.
 * Throws CAPABILITY_REGISTRY_UNAVAILABLE, with Retry-After, while the models' capabilities are unknown.
 */
export function requireImageSupport(
  registry: LiveRegistry,
  run: { definition: FlowDefinition; overrides: BlockOverrides; attachments: Attachment[] },
): void {
  if (run.attachments.length === 0) return;
  if (!registry.isAvailable()) throw registryUnavailable();
  for (const stored of listBlocks(run.definition)) {
    const { step_id } = stored;
    const block = applyOverride(stored, overrideOf(run.overrides, step_id));
    if (block.processor_type !== 'llm') continue;
    const { model = '' } = block;
    // No run can use an unknown model.
    const taken = registry.find(model)?.image_mime_types ?? [];
    for (const [index, { mime_type }] of run.attachments.entries())
      if (!taken.includes(mime_type)) throw mimeIncompatible({ step_id, model, mime_type, index });
  }
}

export function registryUnavailable(): ServiceError {
  return new RetryLater(
    'CAPABILITY_REGISTRY_UNAVAILABLE',
    `The service does not know yet which models take images: try again in ${RETRY_SECONDS} s.`,
    RETRY_SECONDS,
  );
}

export function mimeIncompatible(at: {
  step_id: string;
  model: string;
  mime_type: string;
  index: number;
}): ServiceError {
  const { step_id, model, mime_type, index } = at;
  return new ServiceError(
    'MODEL_MIME_INCOMPATIBLE',
    `attachments.${index}.mime_type: ${model}, the model of block ${step_id}, does not take ${mime_type}.`,
    { step_id, model, unsupported_mime: mime_type, index },
  );
}
