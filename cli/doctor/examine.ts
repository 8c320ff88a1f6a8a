// Looks at everything that the service depends on. Loaded when it is needed: it needs the packages of the service.

import { findStart } from '../../dev/processes/process-lock.ts';
import { type Config, describeUnknown, readConfig } from '../../platform/config/config.ts';
import { findLocalStart, stateFolder } from '../api/local-start.ts';
import { findUnsetOfStart, hasDatabaseUrl, serviceEnvironment } from '../operator/environment.ts';
import { checkDatabase } from './check-database.ts';
import { checkEngine } from './check-engine.ts';
import { checkDisk, checkOpenFiles, checkSandbox } from './check-machine.ts';
import { checkIdentity, checkModels, checkObjects, checkService, checkWebhooks } from './check-network.ts';
import { type Check, type Finding, failure, type Result, runCheck, warning } from './finding.ts';

const CORRECT =
  'Correct them, then repeat weir doctor: nothing else can be looked at. docs/reference.md has all of them.';
const NO_START =
  'For a local npm start, run it first; if it runs in another checkout, or with WEIR_STATE_DIR, set WEIR_STATE_DIR to its folder.';

/** Makes all checks at once; only the first where the configuration is not valid. */
export async function examine(): Promise<Finding[]> {
  const check = 'configuration';
  const local = findLocalStart() ? stateFolder() : undefined;
  const away = hasDatabaseUrl() ? undefined : findAway(local);
  let env: NodeJS.ProcessEnv;
  let config: Config;
  try {
    env = serviceEnvironment();
    config = readConfig(env);
  } catch (error) {
    // A first start, which has written nothing yet.
    if (away && !local) return [{ check: 'service', ...away }];
    const message = error instanceof Error ? error.message : String(error);
    return [{ check, ...failure(message, local || hasDatabaseUrl() ? CORRECT : `${CORRECT} ${NO_START}`) }];
  }
  const ofService: Check[] = [
    { name: 'database', look: (_, found) => checkDatabase(config, found) },
    { name: 'engine', look: () => checkEngine(config) },
    { name: 'identity', look: (signal) => checkIdentity(config, signal) },
    { name: 'service', look: (signal) => checkService(config, signal) },
    { name: 'objects', look: () => checkObjects(config) },
    { name: 'models', look: (signal) => checkModels(config, signal) },
  ];
  const checks: Check[] = [
    ...(away ? [{ name: 'service', look: async () => [away] }] : ofService),
    { name: 'webhooks', look: (signal) => checkWebhooks(config, signal) },
    { name: 'sandbox', look: checkSandbox },
    { name: 'files', look: () => checkOpenFiles(config) },
    { name: 'disk', look: () => checkDisk(local) },
  ];
  const found = await Promise.all(checks.map((check) => runCheck(check)));
  const unknown = describeUnknown(process.env).map((message) => ({
    check,
    ...warning(message, 'Correct its name, or unset it: docs/reference.md has all of them.'),
  }));
  const unset = away ? [] : findUnsetOfStart(env);
  const lacking = unset.length > 0 ? [{ check, ...describeUnset(unset) }] : [];
  return [
    { check, state: 'ok', message: 'Every variable is valid.' },
    ...unknown,
    ...lacking,
    ...found.flat(),
  ];
}

function describeUnset(names: string[]): Result {
  return warning(
    `npm start was given variables that are not set here: ${names.join(', ')}. The following checks may not apply to it.`,
    'Set them to the same values for weir doctor, and repeat it.',
  );
}

/** Finds out whether the local `npm start` is down or still starting. `local`: the folder with the state of its last run. */
function findAway(local: string | undefined): Result | undefined {
  const start = findStart(stateFolder());
  if (start && start.url === undefined)
    return failure('npm start is still starting.', 'Repeat weir doctor when it says that Weir is ready.');
  if (start || !local) return undefined;
  return failure(
    `npm start is not running; ${local} has the state of its last run.`,
    'Run npm start, or set DATABASE_URL and the other variables of your service.',
  );
}
