import { type Provider, splitBaseUrl } from '../../../platform/config/config.ts';
import { traceHeaders } from '../../../platform/observability/tracing.ts';
import { fetchWhole, type ReserveAnswer } from '../fetch-answer.ts';

/**
 * Returns what the SDK of any API needs to call `provider`: its base URL without query string and last slash, its headers with
 * the key, and a `fetch` that adds the query string and reads whole answers. A header that is null is not sent, nor
 * the key `none`. One HTTP call, its body included, may take `timeoutMs`; after a wait for memory the time starts again.
 */
export function connectTo(provider: Provider, timeoutMs: number, reserveAnswer: ReserveAnswer) {
  const { apiKey, keyHeader, headers } = provider;
  const hasKey = apiKey !== 'none';
  const { address, query } = splitBaseUrl(provider);
  return {
    baseURL: address,
    headers: {
      'X-Stainless-Timeout': String(Math.ceil(timeoutMs / 1_000)),
      ...traceHeaders(),
      // Without a key, the headers may bring their own.
      Authorization: null,
      ...headers,
      ...(hasKey && { Authorization: keyHeader ? null : `Bearer ${apiKey}` }),
      ...(hasKey && keyHeader && { [keyHeader]: apiKey }),
    },
    fetch: (url: string | URL | Request, init?: RequestInit) =>
      fetchWhole(query ? `${url}?${query}` : url, init, timeoutMs, reserveAnswer),
  };
}
