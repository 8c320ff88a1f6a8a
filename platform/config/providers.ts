// The model providers of the service, from `<PREFIX>_API_KEY` and `<PREFIX>_BASE_URL`.
import { hasUserInfo, USER_INFO } from './values.ts';

/** The endpoint of a provider prefix (`openai/…`). */
export type Provider = {
  baseUrl: string;
  apiKey: string;
  /** True when the key is the caller's, not the service's. */
  own?: true;
};

/** Default base URLs by prefix; a provider exists when its `<PREFIX>_API_KEY` or `<PREFIX>_BASE_URL` is set. */
const PROVIDERS = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta/openai',
  openrouter: 'https://openrouter.ai/api/v1',
  ollama: 'http://127.0.0.1:11434/v1',
  demo: undefined,
} as const;

/** The variables that have a provider's key and address. */
export const PROVIDER_VARIABLES = Object.keys(PROVIDERS).flatMap((prefix) =>
  ['API_KEY', 'BASE_URL'].map((end) => `${prefix.toUpperCase()}_${end}`),
);

/** Reads the base URLs to which callers' own keys may be sent. */
export function readProviderUrls(env: NodeJS.ProcessEnv): Record<string, string> {
  const urls: Record<string, string> = {};
  for (const [prefix, defaultUrl] of Object.entries(PROVIDERS)) {
    const baseUrl = env[`${prefix.toUpperCase()}_BASE_URL`] ?? defaultUrl;
    const configured = env[`${prefix.toUpperCase()}_BASE_URL`] || baseUrl?.startsWith('https:');
    if (configured && baseUrl) urls[prefix] = baseUrl;
  }
  return urls;
}

/** Reads the providers that the service has a key or a base URL for, by prefix. Throws an Error that names each wrong variable. */
export function readProviders(env: NodeJS.ProcessEnv): Record<string, Provider> {
  const problems = Object.keys(PROVIDERS).flatMap((prefix) => findProblems(env, prefix.toUpperCase()));
  if (problems.length > 0)
    throw new Error(`The configuration is not valid. Correct these variables:\n${problems.join('\n')}`);
  const providers: Record<string, Provider> = {};
  for (const [prefix, defaultUrl] of Object.entries(PROVIDERS)) {
    const apiKey = env[`${prefix.toUpperCase()}_API_KEY`];
    const baseUrl = env[`${prefix.toUpperCase()}_BASE_URL`] ?? defaultUrl;
    const configured = apiKey || env[`${prefix.toUpperCase()}_BASE_URL`];
    if (configured && baseUrl) providers[prefix] = { baseUrl, apiKey: apiKey || 'none' };
  }
  return providers;
}

/** Lists the problems of a provider's variables, without their values. */
function findProblems(env: NodeJS.ProcessEnv, name: string): string[] {
  const { [`${name}_BASE_URL`]: url, [`${name}_API_KEY`]: key } = env;
  const problems: string[] = [];
  if (url && !/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    problems.push(`  ${name}_BASE_URL is not an http:// or https:// URL`);
  if (url && hasUserInfo(url)) problems.push(`  ${name}_BASE_URL ${USER_INFO}`);
  if (key && !/^[\x21-\x7e]+$/.test(key))
    problems.push(`  ${name}_API_KEY has a space, a line break or another character that no key has`);
  return problems;
}
