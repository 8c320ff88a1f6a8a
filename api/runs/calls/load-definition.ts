import type { FlowDefinition } from '../../../flow/definition.ts';
import type { AcceptDeps } from '../../deps.ts';
import type { CallRequest } from './call-request.ts';

/** Loads a version. This may need a permit for large work, so the request's own permit is released first. */
export async function loadDefinition(
  { definitions }: Pick<AcceptDeps, 'definitions'>,
  flowVersionId: string,
  endLargeWork: CallRequest<unknown>['endLargeWork'],
): Promise<FlowDefinition> {
  const loaded = definitions.peek(flowVersionId);
  if (loaded) return loaded;
  endLargeWork?.();
  return definitions.get(flowVersionId);
}
