import { listModelKeys } from '../../db/tenants/model-keys.ts';
import { providerOf } from '../../platform/models/registry.ts';
import type { ApiDeps } from '../deps.ts';

/** The providers whose models an organization's runs can use, by prefix, and whose key they use. */
export type ModelProviders = Map<string, 'service' | 'organization'>;

/** One credit is 0.01 USD. */
const CREDITS_PER_USD = 100;

/**
 * A model, or `provider/*` for all other models of a provider. `key` says whose key its calls use; null: the request
 * must bring one. Prices are in credits per million tokens, and apply only with the service's key.
 */
type ListedModel = {
  model: string;
  key: 'service' | 'organization' | null;
  inputPrice: number;
  outputPrice: number;
  contextTokens: number;
  images: boolean;
  tools: boolean;
  jsonSchema: boolean;
};

/** Lists every model that has a price, by name, with the key that the organization's calls use. */
export async function listModels(
  deps: Pick<ApiDeps, 'db' | 'config' | 'registry'>,
  organizationId: string,
): Promise<ListedModel[]> {
  const providers = await findModelProviders(deps, organizationId);
  const models = deps.registry.models().map((model) => {
    const key = providers.get(providerOf(model)) ?? null;
    const { price, context_tokens, image_mime_types, tools, json_schema } = deps.registry.capabilities(model);
    const credits = key === 'service' ? CREDITS_PER_USD : 0;
    return {
      model,
      key,
      tools,
      inputPrice: price.input * credits,
      outputPrice: price.output * credits,
      contextTokens: context_tokens,
      images: image_mime_types.length > 0,
      jsonSchema: json_schema,
    };
  });
  return models.sort((a, b) => (a.model < b.model ? -1 : 1));
}

/** Finds the providers whose models an organization can use. */
export async function findModelProviders(
  { db, config }: Pick<ApiDeps, 'db' | 'config'>,
  organizationId: string,
): Promise<ModelProviders> {
  const keys = await listModelKeys(db, organizationId);
  const usable = keys.filter(({ provider }) => Object.hasOwn(config.providerUrls, provider));
  return new Map([
    ...Object.keys(config.providers).map((provider) => [provider, 'service'] as const),
    ...usable.map(({ provider }) => [provider, 'organization'] as const),
  ]);
}
