// Hides keys in what a provider says: errors quote keys, headers and URLs.
import type { Provider } from '../../platform/config/config.ts';

const PROVIDER_MESSAGE_MAX_LENGTH = 500;
/** A longer text is cut: what is searched for may come at every place. */
const TEXT_MAX_LENGTH = 64 * 1024;
/** A shorter one is part of ordinary words. */
const SECRET_MIN_LENGTH = 8;

/** The query of a URL, and members or parameters that are named like secrets. */
const QUERIES = /(\bhttps?:\/\/[^\s"'<>?]{1,2048})\?[^\s"'<>]+/gi;
const USERS = /(\bhttps?:\/\/)[^\s"'<>/@]{1,2048}@/gi;
const PARAMETERS =
  /\b([\w-]{0,40}(?:api[-_]?key|[-_]key|token|secret|password|signature|authorization)["']?\s?[=:]\s?["']?)(?!\[key\])[^\s"'&,;)}\]]{8,}/gi;
/** Texts in the form of a key or of a masked part of one. */
const KEYS = [
  /\bBearer\s+[\w.~+/=*-]{8,}/gi,
  /\bsk-[\w*-]+/g,
  /\b(?:gsk|xai|hf|r8|pplx|nvapi|tgp|fw|key|org)[-_][\w*-]{16,}/g,
  /\b(?:AIza|AKIA|ASIA|ya29\.|eyJ)[\w.*-]{12,}/g,
  /[\w-]{0,40}\*{3,}[\w*-]*/g,
];

/** Returns a provider's own message, bounded, without the key or anything that looks like part of a key. */
export function providerMessage(text: string, provider: Provider): string {
  return hideKey(text, provider).slice(0, PROVIDER_MESSAGE_MAX_LENGTH).toWellFormed();
}

/** Replaces the secrets of the provider in what it says, and anything that looks like a key or part of one. */
export function hideKey(text: string, provider: Provider): string {
  let safe = text.slice(0, TEXT_MAX_LENGTH);
  for (const secret of secretsOf(provider)) safe = safe.replaceAll(secret, '[key]');
  safe = safe.replace(QUERIES, '$1?[query]').replace(USERS, '$1[key]@');
  for (const key of KEYS) safe = safe.replace(key, '[key]');
  return safe.replace(PARAMETERS, '$1[key]');
}

/** Lists the key, and the keys in the base URL and the other headers. */
function secretsOf({ apiKey, baseUrl, headers = {}, secrets = [] }: Provider): string[] {
  const { password = '', searchParams = [] } = URL.canParse(baseUrl) ? new URL(baseUrl) : {};
  const carried = [...searchParams, ...Object.entries(headers)].flatMap(([name, value]) =>
    /key|token|sig|secret|auth/i.test(name) ? [value] : [],
  );
  const keys = [apiKey, password, ...carried, ...secrets].filter(({ length }) => length >= SECRET_MIN_LENGTH);
  return [...new Set(keys.flatMap((key) => [key, encodeURIComponent(key.toWellFormed())]))];
}
