// The model list of a running service, kept current from a URL where one is configured.

import { fetchJson } from '../net/read-answer-start.ts';
import { log } from '../observability/log.ts';
import { createRegistry, type ProviderModels, type Registry } from './registry.ts';

/** Delay after a list could not be fetched. */
export const RETRY_SECONDS = 60;
/** The URL may contain a token and stays out of the log. */
const LIST = 'The models list at WEIR_MODELS_URL';
const FETCH_TIMEOUT_MS = 10_000;
const LIST_MAX_BYTES = 8 * 1024 * 1024;

type RegistryConfig = {
  modelsFile: string | undefined;
  modelsUrl: string | undefined;
  modelsRefreshMinutes: number;
  providerModels?: Record<string, ProviderModels>;
};

export type LiveRegistry = Registry & {
  /** False while a list is configured by URL and none was fetched yet: the models' capabilities are not known. */
  isAvailable(): boolean;
  /** Stops refreshing. */
  close(): void;
};

/**
 * Opens the model list; the URL is asked once before this resolves, and then every so many minutes. A list that cannot
 * be fetched or is not valid is logged and changes nothing. Rejects when the file is wrong.
 */
export async function openRegistry(config: RegistryConfig): Promise<LiveRegistry> {
  const { modelsFile: file, modelsUrl: url, modelsRefreshMinutes, providerModels: providers = {} } = config;
  let current = createRegistry({ file, providers });
  let available = url === undefined;
  let timer: NodeJS.Timeout | undefined;
  const closing = new AbortController();

  async function refresh(url: string): Promise<void> {
    let nextSeconds = modelsRefreshMinutes * 60;
    try {
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(FETCH_TIMEOUT_MS)]);
      const content = await fetchJson(url, { maxBytes: LIST_MAX_BYTES, signal });
      current = createRegistry({ file, providers, fetched: { name: LIST, content } });
      available = true;
    } catch (error) {
      if (closing.signal.aborted) return;
      log.warn(
        { list: LIST, reason: String((error as Error).cause ?? error) },
        'A list of models could not be read: what was known stays.',
      );
      nextSeconds = Math.min(nextSeconds, RETRY_SECONDS);
    }
    timer = setTimeout(() => refresh(url), nextSeconds * 1_000).unref();
  }

  if (url !== undefined) await refresh(url);
  return {
    find: (model) => current.find(model),
    capabilities: (model) => current.capabilities(model),
    models: () => current.models(),
    lists: (model) => current.lists(model),
    costMicrocredits: (model, usage) => current.costMicrocredits(model, usage),
    isAvailable: () => available,
    close() {
      closing.abort();
      clearTimeout(timer);
    },
  };
}
