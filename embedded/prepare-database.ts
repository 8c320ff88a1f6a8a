// The database of a local start: schema, demo data, and the file by which `npx weir` finds it.
import { connect } from '../db/connect.ts';
import { migrate } from '../db/migrate.ts';
import { type FirstMember, provideDemoData } from './demo-data.ts';
import type { Progress } from './progress.ts';
import { type LocalEnvironment, readState, writeState } from './state-folder.ts';

const LOCAL_ENVIRONMENT = 'env.json';

/** Brings the schema up to date, provides the demo data, writes `env.json` and returns a working demo API key. */
export async function prepareDatabase(
  stateFolder: string,
  local: Omit<LocalEnvironment, 'WEIR_API_KEY'>,
  members: FirstMember[],
  progress: Progress,
): Promise<string> {
  const task = progress.begin('Database');
  const db = connect(local.DATABASE_URL, 2);
  try {
    task.say('updating the schema');
    const applied = await migrate(db);
    task.say('adding the demo data');
    const known = readState<LocalEnvironment>(stateFolder, LOCAL_ENVIRONMENT)?.WEIR_API_KEY;
    const apiKey = await provideDemoData(db, local.WEIR_API_KEY_PEPPER, known, members);
    writeState(stateFolder, LOCAL_ENVIRONMENT, { ...local, WEIR_API_KEY: apiKey } satisfies LocalEnvironment);
    task.done(applied.length > 0 ? `applied ${applied.length} migrations` : 'schema is up to date');
    return apiKey;
  } catch (error) {
    const { host } = new URL(local.DATABASE_URL);
    throw new Error(`The database at ${host} could not be prepared: ${describe(error)}`, { cause: error });
  } finally {
    task.drop();
    await db.destroy();
  }
}

/** Unwraps AggregateError, which a refused connection to a host with several addresses throws. */
function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join('; ');
  return error instanceof Error ? error.message : String(error);
}
