// The model providers of the service: presets, switched on by `<PREFIX>_API_KEY` or `<PREFIX>_BASE_URL`, and those of the file
// WEIR_PROVIDERS_FILE.

import type { ProviderModels } from '../models/registry.ts';
import {
  API_KINDS,
  type ApiKind,
  CLAUDE_CHAT_REFUSED_FIELDS,
  hasAddress,
  PRESETS,
  type Preset,
} from './provider-presets.ts';
import { type FileProvider, readProvidersFile } from './providers-file.ts';
import { hasUserInfo, USER_INFO } from './values.ts';

/** A provider of models, and how its API is called. */
export type Provider = {
  /** The prefix of its models: `openai/…`. */
  name: string;
  /** The preset that it is like, where that has another name. */
  preset?: string;
  api: ApiKind;
  /**
   * Ends before the path that its API adds, such as `/chat/completions`; for `anthropic`, before `/v1`. The query string goes
   * with every request.
   */
  baseUrl: string;
  /** `none`: a server without keys. */
  apiKey: string;
  /** Sent with every request. */
  headers?: Record<string, string>;
  /** The header of the key alone, such as `api-key`; absent: `Authorization: Bearer`. */
  keyHeader?: string;
  /** Fields of requests and messages that its servers refuse, and that are never sent. */
  refusedFields?: readonly string[];
  /** Fields of requests that its servers have under another name. */
  renamedFields?: { readonly [field: string]: string };
  /** The key is that of the caller or organization, not the service's. */
  own?: true;
  /** Nothing was configured: the provider is there if its server happens to run. */
  unconfigured?: true;
  /** The settings that have the key and the address, where those are not its variables. */
  settings?: { key: string; address: string };
  /** Values of headers that are secret. */
  secrets?: readonly string[];
};

export type { ApiKind };

/** `providers` have the service's key or need none; `ownKeyProviders` take keys of callers and organizations. */
export type Providers = {
  providers: Record<string, Provider>;
  /** Without the service's key, and without its secret headers. */
  ownKeyProviders: Record<string, Provider>;
  /** Models of the providers of the file. */
  providerModels: Record<string, ProviderModels>;
};

/** The variables that configure a provider. */
export const PROVIDER_VARIABLES = Object.keys(PRESETS)
  .flatMap((prefix) => ['API_KEY', 'BASE_URL', 'API'].map((end) => `${prefix.toUpperCase()}_${end}`))
  .concat('AZURE_RESOURCE');

/** Providers of the file without a preset are taken for servers like this one. */
const LIKE_DEFAULT = 'vllm';

/** Reads the providers, by prefix. Throws an Error that names each wrong variable, or each wrong place in the file. */
export function readProviders(env: NodeJS.ProcessEnv): Providers {
  const file = readProvidersFile(env);
  const problems = Object.keys(PRESETS).flatMap((prefix) => [
    ...findProblems(env, prefix.toUpperCase()),
    ...findMissingAddress(env, prefix as keyof typeof PRESETS, file[prefix]),
  ]);
  if (problems.length > 0)
    throw new Error(`The configuration is not valid. Correct these variables:\n${problems.join('\n')}`);
  const found: Providers = { providers: {}, ownKeyProviders: {}, providerModels: {} };
  for (const name of new Set([...Object.keys(PRESETS), ...Object.keys(file)])) {
    const entry = Object.hasOwn(file, name) ? file[name] : undefined;
    const like = entry?.preset ?? (isPreset(name) ? name : undefined);
    const preset: Preset = like === undefined ? {} : PRESETS[like as keyof typeof PRESETS];
    addProvider(found, describeProvider(env, name, { preset, entry }));
    if (!Object.hasOwn(found.ownKeyProviders, name) && !Object.hasOwn(found.providers, name)) continue;
    const sources = [like ?? LIKE_DEFAULT, preset.like ?? []].flat().filter((source) => source !== name);
    if (sources.length > 0 || entry?.capabilities)
      found.providerModels[name] = { like: sources, capabilities: entry?.capabilities ?? {} };
  }
  return found;
}

/** A provider before it is known whether it is configured. */
type Described = Omit<Provider, 'baseUrl' | 'apiKey'> & {
  baseUrl: string | undefined;
  apiKey: string | undefined;
  isAddressGiven: boolean;
  secretHeaders: Record<string, string>;
  /** Whether it needs neither key nor address of the operator. */
  needsNothing: boolean;
};

function describeProvider(
  env: NodeJS.ProcessEnv,
  name: string,
  { preset, entry }: { preset: Preset; entry: FileProvider | undefined },
): Described {
  const variable = isPreset(name) ? name.toUpperCase() : undefined;
  const of = (end: string) => (variable ? env[`${variable}_${end}`] : undefined);
  const given = entry?.base_url ?? of('BASE_URL') ?? (name === 'azure' ? azureUrl(env) : undefined);
  const api = entry?.api ?? (of('API') as ApiKind | undefined) ?? preset.api ?? 'openai-chat';
  const baseUrl = given ?? preset.baseUrl;
  const keyHeader = entry?.key_header ?? preset.keyHeader ?? (api === 'anthropic' ? 'x-api-key' : undefined);
  const isClaudeChat = preset === PRESETS.anthropic && api === 'openai-chat';
  const refusedFields =
    entry?.refused_fields ?? (isClaudeChat ? CLAUDE_CHAT_REFUSED_FIELDS : preset.refusedFields);
  const inFile = (field: string) => `${field} of "${name}" in WEIR_PROVIDERS_FILE`;
  return {
    name,
    ...(entry?.preset && { preset: entry.preset }),
    api,
    baseUrl: baseUrl && toBaseUrl(baseUrl, api, preset),
    isAddressGiven: given !== undefined,
    apiKey: entry?.key ?? of('API_KEY'),
    ...(entry?.headers && { headers: entry.headers }),
    ...(keyHeader && { keyHeader }),
    ...(refusedFields && { refusedFields }),
    ...(preset.renamedFields && { renamedFields: preset.renamedFields }),
    ...(entry && {
      settings: {
        key: entry.key_env ?? (variable ? `${variable}_API_KEY` : inFile('key_env')),
        address: entry.base_url || !variable ? inFile('base_url') : `${variable}_BASE_URL`,
      },
    }),
    secretHeaders: entry?.secretHeaders ?? {},
    needsNothing: name === 'ollama' && env.NODE_ENV !== 'production',
  };
}

function addProvider(found: Providers, described: Described): void {
  const { baseUrl, apiKey, isAddressGiven, secretHeaders, needsNothing, ...rest } = described;
  if (!baseUrl) return;
  const provider = { ...rest, baseUrl, apiKey: 'none' };
  // A default address of this machine is not meant for callers.
  if (isAddressGiven || baseUrl.startsWith('https:')) found.ownKeyProviders[rest.name] = provider;
  if (!apiKey && !isAddressGiven && !needsNothing) return;
  const secrets = Object.values(secretHeaders);
  found.providers[rest.name] = {
    ...provider,
    apiKey: apiKey ?? 'none',
    ...(secrets.length > 0 && { headers: { ...rest.headers, ...secretHeaders }, secrets }),
    ...(!apiKey && !isAddressGiven && { unconfigured: true }),
  };
}

function isPreset(name: string): boolean {
  return Object.hasOwn(PRESETS, name);
}

/** The address of Anthropic may be given with `/v1`, as its OpenAI layer has it, and without, as its own SDK wants it. */
function toBaseUrl(url: string, api: ApiKind, preset: Preset): string {
  const { address, query } = splitBaseUrl({ baseUrl: url });
  const unversioned = address.replace(/\/v1$/, '');
  const end = query && `?${query}`;
  if (api === 'anthropic') return unversioned + end;
  return preset === PRESETS.anthropic ? `${unversioned}/v1${end}` : url;
}

/** Names the settings that have the key and the address of a provider. */
export function settingsOf({ name, settings }: Pick<Provider, 'name' | 'settings'>) {
  const variable = name.toUpperCase();
  return settings ?? { key: `${variable}_API_KEY`, address: `${variable}_BASE_URL` };
}

/** Returns the address without a slash at its end, and the query string without its question mark. */
export function splitBaseUrl({ baseUrl }: Pick<Provider, 'baseUrl'>): { address: string; query: string } {
  const [address = '', ...query] = baseUrl.split('?');
  return { address: address.replace(/\/+$/, ''), query: query.join('?') };
}

/** Returns the URL that lists the models of a provider. */
export function listingUrl(provider: Pick<Provider, 'baseUrl' | 'api'>): string {
  const { address, query } = splitBaseUrl(provider);
  return `${address}${provider.api === 'anthropic' ? '/v1' : ''}/models${query && `?${query}`}`;
}

/** Says what an operator sets to switch a provider on that is off. */
export function howToConfigure(prefix: string): string {
  if (!isPreset(prefix)) return `add "${prefix}" to WEIR_PROVIDERS_FILE, with its key_env`;
  const variable = prefix.toUpperCase();
  if (prefix === 'azure') return 'set AZURE_API_KEY, and AZURE_RESOURCE or AZURE_BASE_URL';
  return `set ${variable}_API_KEY, or ${variable}_BASE_URL for a server without a key`;
}

function azureUrl({ AZURE_RESOURCE: resource }: NodeJS.ProcessEnv): string | undefined {
  return resource && `https://${resource}.openai.azure.com/openai/v1`;
}

/** Finds a key without the address that it is for: the provider would be off although it has a key. */
function findMissingAddress(
  env: NodeJS.ProcessEnv,
  prefix: keyof typeof PRESETS,
  entry: FileProvider | undefined,
): string[] {
  const { preset = prefix, key_env, key, base_url } = entry ?? {};
  const variable = prefix.toUpperCase();
  if (!key && !env[`${variable}_API_KEY`]) return [];
  const isAzure = prefix === 'azure';
  if (base_url || env[`${variable}_BASE_URL`] || (isAzure && env.AZURE_RESOURCE) || hasAddress(preset))
    return [];
  return [
    `  ${key_env ?? `${variable}_API_KEY`} needs ${isAzure ? 'AZURE_RESOURCE or ' : ''}${variable}_BASE_URL`,
  ];
}

/** Lists the problems of a provider's variables, without their values. */
function findProblems(env: NodeJS.ProcessEnv, name: string): string[] {
  const { [`${name}_BASE_URL`]: url, [`${name}_API_KEY`]: key, [`${name}_API`]: api } = env;
  const problems: string[] = [];
  if (url && !/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    problems.push(`  ${name}_BASE_URL is not an http:// or https:// URL`);
  if (url && hasUserInfo(url)) problems.push(`  ${name}_BASE_URL ${USER_INFO}`);
  if (key && !/^[\x21-\x7e]+$/.test(key))
    problems.push(`  ${name}_API_KEY has a space, a line break or another character that no key has`);
  if (api && !API_KINDS.some((kind) => kind === api))
    problems.push(`  ${name}_API must be one of ${API_KINDS.join(', ')}`);
  if (name === 'AZURE' && env.AZURE_RESOURCE && !/^[a-z0-9-]+$/i.test(env.AZURE_RESOURCE))
    problems.push('  AZURE_RESOURCE must be the name of an Azure OpenAI resource, not a URL');
  return problems;
}
