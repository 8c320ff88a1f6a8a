// Accepts a new run of /execute or /jobs, with checks that resumes and steps share.
import type { RunMode } from '../../../db/schema.ts';
import type { StoredRunInput } from '../../../db/tables/run-input.ts';
import { createTimedId } from '../../../db/timed-id.ts';
import type { FlowDefinition } from '../../../flow/definition.ts';
import { ServiceError } from '../../../flow/errors.ts';
import type { BlockOverrides } from '../../../flow/overrides.ts';
import type { AcceptDeps } from '../../deps.ts';
import { invalidField } from '../../http/request-errors.ts';
import { readAttachments } from '../run-shapes/attachments.ts';
import type { JobRequest, RunRequest } from '../run-shapes/requests.ts';
import type { CallRequest } from './call-request.ts';
import { readCallback } from './callback.ts';
import {
  requireImageSupport,
  requireMayRun,
  requireTools,
  requireValidOverrides,
  requireValidPins,
} from './check-request.ts';
import { limitLookUps } from './limit-look-ups.ts';
import { type AcceptedCall, storeCall } from './store-call.ts';

/**
 * Checks a run and stores it: from here on it is not lost. Returns undefined when another request has taken its
 * Idempotency-Key meanwhile.
 */
export async function acceptRun(
  deps: AcceptDeps,
  request: CallRequest<RunRequest>,
  mode: RunMode,
): Promise<AcceptedCall | undefined> {
  const { flow, body } = request;
  const { message, parameters = {}, block_overrides = {}, maxCredits, ...asked } = body;
  if (message === undefined) throw invalidField('message', 'is required');
  await request.requireRunnable?.();
  requireParameterNames(parameters);
  const overrides = block_overrides as BlockOverrides;
  const validator = deps.validator.of(flow.organizationId);
  await requireValidOverrides(validator, deps.registry, flow.definition, 'block_overrides', overrides);
  const pins = requireValidPins(flow.definition, 'pinned_outputs', (body as JobRequest).pinned_outputs);
  const { attachments } = asked;
  const forHosts = limitLookUps(deps, flow.organizationId);
  const images = await acceptAttachments(forHosts, flow.definition, overrides, attachments);
  const tools = await requireTools({ ...deps, validator }, flow.definition, overrides, asked);
  const callback = mode === 'jobs' ? await readCallback(forHosts, body as JobRequest) : undefined;
  requireMayRun(flow);
  const input = {
    message,
    parameters,
    block_overrides,
    ...(maxCredits !== undefined && { max_credits: maxCredits }),
    ...pins,
    ...images,
    ...tools,
  } as StoredRunInput;
  return storeCall(deps, request, { callId: createTimedId(), mode, input, callback, ...flow });
}

/**
 * Returns the attachments in their stored form; {} when there are none. Takes the dependencies of `limitLookUps`.
 * Throws the error codes of attachments.
 */
export async function acceptAttachments(
  deps: AcceptDeps,
  definition: FlowDefinition,
  overrides: BlockOverrides,
  sent: unknown[] = [],
): Promise<Pick<StoredRunInput, 'attachments'>> {
  const attachments = await readAttachments(sent, deps.resolvePublic);
  requireImageSupport(deps.registry, { definition, overrides, attachments });
  return attachments.length > 0 ? { attachments } : {};
}

/** Throws PARAMETER_NAME_RESERVED. */
export function requireParameterNames(parameters: object): void {
  if (Object.hasOwn(parameters, 'attachments'))
    throw new ServiceError(
      'PARAMETER_NAME_RESERVED',
      'parameters.attachments is reserved: give this parameter another name.',
    );
}
