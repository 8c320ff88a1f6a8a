// Looks at everything that the service depends on. Loaded when it is needed: it needs the packages of the service.

import { findStart } from '../../dev/processes/process-lock.ts';
import { type Config, describeUnknown, readConfig } from '../../platform/config/config.ts';
import { BUILD, VERSION } from '../../platform/version.ts';
import { findLocalStart, stateFolder } from '../api/local-start.ts';
import { findUnsetOfStart, hasDatabaseUrl, serviceEnvironment } from '../operator/environment.ts';
import { checksOf } from './checks.ts';
import { type Finding, failure, ok, runCheck, warning } from './finding.ts';

const CONFIGURATION = 'configuration';
const CORRECT =
  'Correct them, then repeat weir doctor: nothing else can be looked at. docs/reference.md has all of them.';
const NO_START =
  'For a local npm start, run it first; if it runs in another checkout, or with WEIR_STATE_DIR, set WEIR_STATE_DIR to its folder.';

/** Makes all checks at once; only the first where the configuration is not valid. */
export async function examine(): Promise<Finding[]> {
  const local = findLocalStart() ? stateFolder() : undefined;
  const away = hasDatabaseUrl() ? undefined : findAway(local);
  let env: NodeJS.ProcessEnv;
  let config: Config;
  try {
    env = serviceEnvironment();
    config = readConfig(env);
  } catch (error) {
    // A first start, which has written nothing yet.
    if (away && !local) return [away];
    const message = error instanceof Error ? error.message : String(error);
    const mend = local || hasDatabaseUrl() ? CORRECT : `${CORRECT} ${NO_START}`;
    return [failure(CONFIGURATION, message, mend)];
  }
  const found = away ? [away] : (await Promise.all(checksOf(config).map((check) => runCheck(check)))).flat();
  const unknown = describeUnknown(process.env).map((message) =>
    warning(CONFIGURATION, message, 'Correct its name, or unset it: docs/reference.md has all of them.'),
  );
  const unset = away ? [] : findUnsetOfStart(env);
  return [
    ok(CONFIGURATION, `Every variable is valid. This is Weir ${VERSION}${BUILD ? ` (${BUILD})` : ''}.`),
    ...unknown,
    ...(unset.length > 0 ? [describeUnset(unset)] : []),
    ...found,
  ];
}

function describeUnset(names: string[]): Finding {
  return warning(
    CONFIGURATION,
    `npm start was given variables that are not set here: ${names.join(', ')}. The following checks may not apply to it.`,
    'Set them to the same values for weir doctor, and repeat it.',
  );
}

/** Finds out whether the local `npm start` is down or still starting. `local`: the folder with the state of its last run. */
function findAway(local: string | undefined): Finding | undefined {
  const start = findStart(stateFolder());
  if (start && start.url === undefined)
    return failure(
      'service',
      'npm start is still starting.',
      'Repeat weir doctor when it says that Weir is ready.',
    );
  if (start || !local) return undefined;
  return failure(
    'service',
    `npm start is not running; ${local} has the state of its last run.`,
    'Run npm start, or set DATABASE_URL and the other variables of your service.',
  );
}
