import type { AcceptDeps } from '../../api/deps.ts';
import type { Db } from '../../db/connect.ts';
import { createFlowDefinitions } from '../../db/flows/flow-definitions.ts';
import { createValidator } from '../../platform/json-schema/validator.ts';
import { createLargeValues } from '../../platform/large-values/large-values.ts';
import { openRegistry } from '../../platform/models/live-registry.ts';
import { acceptanceConfig } from './environment.ts';
import { WEBHOOK_RULES } from './webhook-rules.ts';

/** Lends `work` what runs are accepted with, and closes it afterwards. Workers start the accepted runs. */
export async function withAcceptDeps<T>(db: Db, work: (deps: AcceptDeps) => Promise<T>): Promise<T> {
  const config = acceptanceConfig();
  const registry = await openRegistry(config);
  const validator = createValidator();
  const largeValues = createLargeValues();
  try {
    return await work({
      db,
      definitions: createFlowDefinitions(db, largeValues.work),
      validator,
      largeValues,
      registry,
      resolvePublic: WEBHOOK_RULES.resolvePublic,
      config: { ...WEBHOOK_RULES.config, ...config },
      requestModelKeys: {
        hold: () => Promise.reject(new Error('An operator brings no model keys.')),
        drop: () => undefined,
      },
    });
  } finally {
    await Promise.all([validator.close(), largeValues.close()]);
    registry.close();
  }
}
