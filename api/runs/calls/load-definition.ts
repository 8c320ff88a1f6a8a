import type { FlowDefinition } from '../../../flow/definition.ts';
import type { AcceptDeps } from '../../deps.ts';
import type { CallRequest } from './call-request.ts';

/** Loads a version, which may need a turn at large work: the turn that the request holds for its body is ended first. */
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
