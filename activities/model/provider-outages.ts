import { ServiceError } from '../../flow/errors.ts';
import type { Provider } from '../../platform/config/config.ts';
import { providerOf } from '../../platform/models/registry.ts';
import { createOutageLog, type OutageLog } from '../../platform/observability/outage-log.ts';
import { ModelUnavailable } from '../attempts/model-unavailable.ts';

export type ProviderOutages = {
  /** Makes a request to a model. When its provider fails, or refuses what the operator has configured, the log says so. */
  report<T>(model: string, provider: Provider, request: () => Promise<T>): Promise<T>;
};

export function createProviderOutages(): ProviderOutages {
  /** By the prefix of models; there are as many as the service has providers. */
  const outages = new Map<string, OutageLog>();
  return {
    async report(model, { own }, request) {
      // A tenant's own key may be refused for reasons that do not concern operators.
      if (own) return request();
      const name = providerOf(model);
      const outage = outages.get(name) ?? createOutageLog(`The provider ${name}`);
      outages.set(name, outage);
      try {
        const answer = await request();
        outage.works();
        return answer;
      } catch (error) {
        const reason = describeFailure(error, name.toUpperCase());
        if (reason !== undefined) outage.failed(reason);
        throw error;
      }
    },
  };
}

/** Describes a failure without what the provider said, which may quote a prompt; undefined when a flow is the reason. */
function describeFailure(error: unknown, prefix: string): string | undefined {
  if (error instanceof ServiceError) {
    if (error.code === 'MODEL_KEY_REJECTED') return `it rejects the key in ${prefix}_API_KEY`;
    if (error.code === 'MODEL_QUOTA_EXCEEDED') return `the quota of the key in ${prefix}_API_KEY is used up`;
    return error.code === 'MODEL_NOT_CONFIGURED' ? error.message : undefined;
  }
  if (!(error instanceof ModelUnavailable)) return undefined;
  if (error.status !== undefined) return `it answers with status ${error.status}`;
  return error.isUnreadable ? 'its answers cannot be read' : error.message;
}
