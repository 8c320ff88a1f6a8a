import { MICROCREDITS_PER_CREDIT } from '../../flow/credit-amount.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { Provider } from '../../platform/config/config.ts';
import type { Registry, TokenUsage } from '../../platform/models/registry.ts';
import {
  modelCallDuration,
  modelCost,
  modelRetries,
  modelTokens,
} from '../../platform/observability/metrics/model-metrics.ts';
import { ModelUnavailable } from '../attempts/model-unavailable.ts';
import { describeModel } from './chat-span.ts';

const OPERATION = { 'gen_ai.operation.name': 'chat' };

/** Names a model in labels: those that the model list does not name are `other`. */
function labelsOf(registry: Pick<Registry, 'lists'>, model: string) {
  const names = describeModel(model);
  return registry.lists(model) ? names : { ...names, 'gen_ai.request.model': 'other' };
}

/** Measures a request to a model; `own`: it was made with a key of the caller or the organization. */
export async function measureModelCall<T>(
  registry: Pick<Registry, 'lists'>,
  model: string,
  { own }: Pick<Provider, 'own'>,
  work: () => Promise<T>,
): Promise<T> {
  const began = performance.now();
  modelRetries.add(0, labelsOf(registry, model));
  const record = (failure?: { 'error.type': string }) =>
    modelCallDuration.record((performance.now() - began) / 1_000, {
      ...OPERATION,
      ...labelsOf(registry, model),
      'weir.model.key': own ? 'own' : 'service',
      ...failure,
    });
  try {
    const answer = await work();
    record();
    return answer;
  } catch (error) {
    record({ 'error.type': typeOf(error) });
    throw error;
  }
}

/** Names why a request failed: the status of its answer, or the code that callers get. */
function typeOf(error: unknown): string {
  if (error instanceof ServiceError) return error.code;
  return error instanceof ModelUnavailable ? error.type : 'aborted';
}

/** Measures what an answer used; `isOwn`: it was paid for with the caller's own key. */
export function measureUsage(
  registry: Registry,
  model: string,
  { promptTokens, completionTokens }: TokenUsage,
  isOwn: boolean,
): void {
  const labels = labelsOf(registry, model);
  modelTokens.record(promptTokens, { ...OPERATION, ...labels, 'gen_ai.token.type': 'input' });
  modelTokens.record(completionTokens, { ...OPERATION, ...labels, 'gen_ai.token.type': 'output' });
  const microcredits = isOwn ? 0 : registry.costMicrocredits(model, { promptTokens, completionTokens });
  modelCost.add(microcredits / MICROCREDITS_PER_CREDIT, labels);
}

/** Counts a request that repeats one that failed or was lost. */
export function countRetry(registry: Pick<Registry, 'lists'>, model: string): void {
  modelRetries.add(1, labelsOf(registry, model));
}
