// The model providers of the service, from `<PREFIX>_API_KEY` and `<PREFIX>_BASE_URL`.

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

/** Reads the providers that the service has a key or a base URL for, by prefix. */
export function readProviders(env: NodeJS.ProcessEnv): Record<string, Provider> {
  const providers: Record<string, Provider> = {};
  for (const [prefix, defaultUrl] of Object.entries(PROVIDERS)) {
    const apiKey = env[`${prefix.toUpperCase()}_API_KEY`];
    const baseUrl = env[`${prefix.toUpperCase()}_BASE_URL`] ?? defaultUrl;
    const configured = apiKey || env[`${prefix.toUpperCase()}_BASE_URL`];
    if (configured && baseUrl) providers[prefix] = { baseUrl, apiKey: apiKey || 'none' };
  }
  return providers;
}
