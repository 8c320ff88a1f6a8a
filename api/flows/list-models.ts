import { listModelKeys } from '../../db/tenants/model-keys.ts';
import { type Rates, ratesFor } from '../../platform/models/price.ts';
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
  /** The prices of requests with a long input. */
  longContextPrices: (Prices & { aboveTokens: number })[];
  /** The price of each image of a request, besides its tokens. */
  imagePrice: number;
  /** Whether the cost that the provider reports is charged in place of the prices. */
  reportedCost: boolean;
  /** Factors of all prices, by the service tier that an answer names. */
  tiers: { [tier: string]: number };
  contextTokens: number;
  images: boolean;
  tools: boolean;
  jsonSchema: boolean;
} & Prices;

type Prices = {
  inputPrice: number;
  cachedInputPrice: number;
  cacheWritePrice: number;
  cacheWriteHourPrice: number;
  outputPrice: number;
};

/** Lists every model that has a price, by name, with the key that the organization's calls use. */
export async function listModels(
  deps: Pick<ApiDeps, 'db' | 'config' | 'registry'>,
  organizationId: string,
): Promise<ListedModel[]> {
  const providers = await findModelProviders(deps, organizationId);
  const models = deps.registry.models().map((model) => {
    const key = providers.get(providerOf(model)) ?? null;
    const {
      price,
      tiers = {},
      reported_cost = false,
      context_tokens,
      image_mime_types,
      image_urls,
      tools,
      json_schema,
    } = deps.registry.capabilities(model);
    const toCredits = (usd: number) =>
      key === 'service' ? Math.round(usd * 1e6) / (1e6 / CREDITS_PER_USD) : 0;
    const toPrices = ({ input, cached_input = input, cache_write = input, ...rest }: Rates): Prices => ({
      inputPrice: toCredits(input),
      cachedInputPrice: toCredits(cached_input),
      cacheWritePrice: toCredits(cache_write),
      cacheWriteHourPrice: toCredits(rest.cache_write_1h ?? cache_write),
      outputPrice: toCredits(rest.output),
    });
    return {
      model,
      key,
      tools,
      ...toPrices(price),
      longContextPrices: (price.long_context ?? []).map(({ above_tokens }) => ({
        aboveTokens: above_tokens,
        ...toPrices(ratesFor(price, above_tokens + 1)),
      })),
      imagePrice: toCredits(price.image ?? 0),
      reportedCost: reported_cost,
      tiers,
      contextTokens: context_tokens,
      images: image_mime_types.length > 0 && image_urls !== false,
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
  const usable = keys.filter(({ provider }) => Object.hasOwn(config.ownKeyProviders, provider));
  return new Map([
    ...Object.keys(config.providers).map((provider) => [provider, 'service'] as const),
    ...usable.map(({ provider }) => [provider, 'organization'] as const),
  ]);
}
