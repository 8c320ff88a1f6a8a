import type { Db } from '../../db/connect.ts';
import { listModelKeys } from '../../db/tenants/model-keys.ts';
import type { FlowDefinition } from '../../flow/definition.ts';
import { listBlocks } from '../../flow/plan.ts';
import { readProviders } from '../../platform/config/providers.ts';
import { readEnvironment } from '../../platform/config/read-environment.ts';
import { providerOf } from '../../platform/models/registry.ts';

/** The provider that ships with the project needs no key. */
const DEMO = 'demo';

/**
 * Names blocks whose model has no key that this command can see: neither in its environment, which may not be that of the
 * service, nor the organization's own.
 */
export async function noteMissingKeys(
  db: Db,
  organizationId: string,
  definition: FlowDefinition,
): Promise<string[]> {
  const own = await listModelKeys(db, organizationId);
  const known = new Set([
    DEMO,
    ...Object.keys(readProviders(readEnvironment(process.env))),
    ...own.map(({ provider }) => provider),
  ]);
  return listBlocks(definition).flatMap(({ step_id, processor_type, model }) => {
    if (processor_type !== 'llm') return [];
    const provider = model && providerOf(model);
    if (provider === undefined || known.has(provider)) return [];
    return `${step_id} asks ${model}, for which no key is in sight: its runs fail unless the service has ${provider.toUpperCase()}_API_KEY or _BASE_URL, or callers send a key of their own.`;
  });
}
