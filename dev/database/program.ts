// main of the process that prepares the database of a local start: schema and demo data. It reads one request from the start,
// answers it with messages, and ends with its connection to the start.
import pg from 'pg';
import { connect } from '../../db/connect.ts';
import { ConnectionFailed } from '../../db/connection/database-errors.ts';
import { migrate } from '../../db/migrate.ts';
import { OTHER_CLUSTER } from '../state-folder.ts';
import { provideDemoData } from './demo-data.ts';
import type { Answer, Preparation } from './prepare-database.ts';

/** Refusals of the start's own server, by SQLSTATE. */
const REFUSALS: { [sqlState: string]: string } = {
  '28P01': `it refuses the stored password: ${OTHER_CLUSTER}`,
  '3D000': 'it was never created. The first start was cut off: delete the state folder to start afresh.',
};

process.once('disconnect', () => process.exit());
process.once('message', (request: Preparation) => void prepare(request));

async function prepare({
  databaseUrl,
  ownServer,
  apiKeyPepper,
  knownKey,
  members,
}: Preparation): Promise<void> {
  const db = connect(databaseUrl, 2);
  try {
    await answer({ doing: 'updating the schema' });
    const applied = await migrate(db);
    await answer({ doing: 'adding the demo data' });
    const apiKey = await provideDemoData(db, apiKeyPepper, knownKey, members);
    await answer({ apiKey, migrations: applied.length });
  } catch (error) {
    const { host } = new URL(databaseUrl);
    const reason = (ownServer && REFUSALS[sqlStateOf(error)]) || describe(error);
    await answer({ problem: `The database at ${host} could not be prepared: ${reason}` });
  } finally {
    await db.destroy();
    if (process.connected) process.disconnect();
  }
}

/** Resolves when the start has it; where the start has ended, this process does too. */
function answer(message: Answer): Promise<void> {
  return new Promise((resolve) => process.send?.(message, () => resolve()));
}

function sqlStateOf(error: unknown): string {
  const cause = error instanceof ConnectionFailed ? error.cause : error;
  return (cause instanceof pg.DatabaseError && cause.code) || '';
}

/** Unwraps AggregateError, which a refused connection to a host with several addresses throws. */
function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join('; ');
  return error instanceof Error ? error.message : String(error);
}
