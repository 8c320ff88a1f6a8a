import { ServiceError } from '../../flow/errors.ts';
import { type Provider, settingsOf } from '../../platform/config/config.ts';
import { providerOf } from '../../platform/models/registry.ts';
import { createOutageLog, type OutageLog } from '../../platform/observability/outage-log.ts';
import { ModelUnavailable } from '../attempts/model-unavailable.ts';

/** As in `weir operator runs stuck` and the alert WeirModelsSilent. */
const SILENT_MS = 120_000;

/** The statuses below 500 that say something of the provider. */
const OF_PROVIDER = new Set([408, 425, 429, 498]);

export type ProviderOutages = {
  /**
   * Makes a request to a model. The log says when its provider fails, refuses what the operator has configured, or answers
   * nothing for two minutes.
   */
  report<T>(model: string, provider: Provider, request: () => Promise<T>): Promise<T>;
};

export function createProviderOutages(): ProviderOutages {
  /** By the prefix of models; there are as many as the service has providers. */
  const providers = new Map<string, { outage: OutageLog; answers: number }>();
  return {
    async report(model, provider, request) {
      // A tenant's own key may be refused for reasons that do not concern operators.
      if (provider.own) return request();
      const name = providerOf(model);
      const found = providers.get(name) ?? { outage: createOutageLog(`The provider ${name}`), answers: 0 };
      providers.set(name, found);
      const { outage } = found;
      let { answers } = found;
      const silence = setInterval(() => {
        if (found.answers === answers) outage.failed('it has answered no request for two minutes');
        answers = found.answers;
      }, SILENT_MS).unref();
      try {
        const answer = await request();
        found.answers += 1;
        outage.works();
        return answer;
      } catch (error) {
        const reason = describeFailure(error, settingsOf(provider).key);
        if (reason !== undefined) outage.failed(reason);
        throw error;
      } finally {
        clearInterval(silence);
      }
    },
  };
}

/** Describes a failure without what the provider said, which may quote a prompt; undefined when a flow is the reason. */
function describeFailure(error: unknown, key: string): string | undefined {
  if (error instanceof ServiceError) {
    if (error.code === 'MODEL_KEY_REJECTED') return `it rejects the key in ${key}`;
    if (error.code === 'MODEL_QUOTA_EXCEEDED') return `the quota of the key in ${key} is used up`;
    return error.code === 'MODEL_NOT_CONFIGURED' ? error.message : undefined;
  }
  if (!(error instanceof ModelUnavailable)) return undefined;
  // Of other statuses, a repetition may succeed because of the request alone, such as when an image was not fetched in time.
  if (error.status !== undefined)
    return error.status >= 500 || OF_PROVIDER.has(error.status)
      ? `it answers with status ${error.status}`
      : undefined;
  return error.isUnreadable ? 'its answers cannot be read' : error.message;
}
