import { listModelKeys } from '../../db/tenants/model-keys.ts';
import type { ApiDeps } from '../deps.ts';

/** The providers whose models an organization's runs can use, by prefix, and whose key they use. */
export type ModelProviders = Map<string, 'service' | 'organization'>;

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
