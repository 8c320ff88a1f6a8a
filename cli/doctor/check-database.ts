import pg from 'pg';
import { connect } from '../../db/connect.ts';
import { FREE_CONNECTIONS, isOutOfConnections } from '../../db/connection/database-errors.ts';
import {
  findWriteRefusal,
  NO_ROOM,
  NOT_MIGRATED,
  READ_ONLY,
  STANDBY,
  type WriteRefusal,
} from '../../db/connection/find-write-refusal.ts';
import { inspectDatabase } from '../../db/inspect-database.ts';
import { listLockHolders, listLongWaiting } from '../../db/migrate.ts';
import { requireModelKeysReadable } from '../../db/tenants/model-keys.ts';
import { requireSigningSecretsReadable } from '../../db/webhooks/webhook-secrets.ts';
import type { Config } from '../../platform/config/config.ts';
import { CONNECTIONS_BESIDES_POOL } from '../../platform/process/few-open-files.ts';
import { createEncryption, SecretUnreadable } from '../../platform/secrets/encrypt.ts';
import { checkClock } from './check-machine.ts';
import { describe, failure, ok, type Result, warning } from './finding.ts';

const SECRETS_FIX =
  'Set WEIR_SECRETS_KEYS to the keys that the stored secrets were made with, in every process: docs/operating/secrets.md.';

/** Statements of Weir hold their locks for less. */
const LONG_SECONDS = 3;

const MEND =
  'End what holds the lock where it was forgotten, as its user or a superuser: select pg_terminate_backend(<its process>).';

const TIMEOUT_MS = 6_000;
const VERSION_MIN = 15;
const MIGRATE = 'Run npm run migrate (in Docker Compose: docker compose run --rm migrate).';

/**
 * Checks that the database answers, is up to date and writable, and has enough connections. Adds each finding to `results` as
 * soon as it is known.
 */
export async function checkDatabase(
  {
    databaseUrl,
    databaseConnections,
    secretsKeys,
  }: Pick<Config, 'databaseUrl' | 'databaseConnections' | 'secretsKeys'>,
  results: Result[] = [],
): Promise<Result[]> {
  const facts = await inspectDatabase(databaseUrl, TIMEOUT_MS).catch((error: unknown) =>
    describeRefusal(error, hostOf(databaseUrl)),
  );
  if ('state' in facts) return [facts];
  const { version, pending, unknown, mayChangeSchema, mayWrite, connections, now } = facts;
  // At once: what this says of the clock holds for the moment at which it was read.
  results.push(...checkClock('the database', now.at, now.takenMs));
  if (Number.parseInt(version, 10) < VERSION_MIN)
    results.push(
      warning(
        `PostgreSQL ${version} is older than the versions that Weir is tested with.`,
        `Use version ${VERSION_MIN} or newer.`,
      ),
    );
  if (pending.length > 0)
    results.push(
      failure(
        `${pending.length === 1 ? '1 migration is' : `${pending.length} migrations are`} missing, the first is ${pending[0]}.`,
        MIGRATE,
      ),
    );
  if (unknown.length > 0)
    results.push(
      warning(
        `The schema has ${unknown.length} migrations that this release does not know, such as ${unknown[0]}.`,
        'A newer release has migrated it. Run that release here too.',
      ),
    );
  if (!mayWrite)
    results.push(
      failure(
        'The user may not read, insert, update and delete the rows of all tables.',
        'Have their owner connect, or grant its rights.',
      ),
    );
  else if (!mayChangeSchema)
    results.push(
      warning('The user may not create tables.', 'Run npm run migrate as the owner of the schema.'),
    );
  const free = connections.max - connections.used;
  const needed = databaseConnections + CONNECTIONS_BESIDES_POOL;
  if (connections.max < 2 * needed)
    results.push(
      warning(
        `max_connections leaves ${connections.max}, and each process may open ${needed}.`,
        'Raise max_connections, or lower WEIR_DATABASE_CONNECTIONS.',
      ),
    );
  else if (free < needed)
    results.push(
      warning(
        `${connections.used} of ${connections.max} connections are in use: a further process of ${needed} may find none.`,
        'Raise max_connections, lower WEIR_DATABASE_CONNECTIONS, or end what holds them (pg_stat_activity).',
      ),
    );
  const add = (found: Result[]) => results.push(...found);
  await Promise.all([checkWrites(databaseUrl).then(add), checkLocks(databaseUrl, TIMEOUT_MS).then(add)]);
  if (results.every(({ state }) => state !== 'error')) {
    results.unshift(
      ok(
        `PostgreSQL ${version} at ${hostOf(databaseUrl)}: up to date, takes writes, ${connections.used} of ${connections.max} connections in use.`,
      ),
    );
    results.push(...(await checkSecrets({ databaseUrl, secretsKeys })));
  }
  return results;
}

async function checkWrites(databaseUrl: string): Promise<Result[]> {
  try {
    const refusal = await findWriteRefusal(databaseUrl, TIMEOUT_MS);
    return refusal ? [failure(`The database ${refusal}.`, WRITES[refusal])] : [];
  } catch (error) {
    return [describeRefusal(error, hostOf(databaseUrl))];
  }
}

const WRITES: { [refusal in WriteRefusal]: string } = {
  [NOT_MIGRATED]: MIGRATE,
  [NO_ROOM]: 'Free or add disk space.',
  [STANDBY]: 'Connect to the primary: correct DATABASE_URL.',
  [READ_ONLY]:
    'Reset it where it is set: alter system, alter database, alter role (reset default_transaction_read_only), or the options of DATABASE_URL.',
};

function describeRefusal(error: unknown, host: string): Result {
  if (isOutOfConnections(error))
    return failure(
      `PostgreSQL at ${host} has no free connection (max_connections): ${describe(error)}. Running processes keep their connections.`,
      `${FREE_CONNECTIONS.charAt(0).toUpperCase()}${FREE_CONNECTIONS.slice(1)}.`,
    );
  if (error instanceof Error && error.message === 'Query read timeout')
    return failure(
      `PostgreSQL at ${host} did not answer a query within ${TIMEOUT_MS / 1_000} s.`,
      'See what it is busy with (pg_stat_activity), and whether its processors and disk keep up.',
    );
  const message = `PostgreSQL at ${host} cannot be used: ${describe(error)}.`;
  const address = 'DATABASE_URL (and PGPASSWORD, where it holds the password)';
  if (!(error instanceof pg.DatabaseError)) return failure(message, `Start it, or correct ${address}.`);
  const isAddress = /^(28|3D)/.test(error.code ?? '');
  return failure(message, isAddress ? `Correct ${address}.` : 'See the log of PostgreSQL.');
}

/** Returns host and port alone: the rest may hold a password. */
function hostOf(url: string): string {
  const { host } = new URL(url);
  return host || 'localhost';
}

/** Looks whether statements wait long for a lock of a table or row, and names the sessions that hold it. */
async function checkLocks(databaseUrl: string, timeoutMs: number): Promise<Result[]> {
  const db = connect(databaseUrl, 1, timeoutMs);
  try {
    const waiting = await listLongWaiting(db, LONG_SECONDS);
    const holders = await listLockHolders(db, waiting);
    if (holders.length === 0) return [];
    const count = waiting.length === 1 ? '1 statement waits' : `${waiting.length} statements wait`;
    const message = `${count} for more than ${LONG_SECONDS} s for a lock of ${holders.join('; ')}.`;
    return [failure(message, MEND)];
  } catch (error) {
    return [failure(`Locks could not be looked at: ${describe(error)}.`, 'Repeat weir doctor.')];
  } finally {
    db.destroy().catch(() => undefined);
  }
}

/** Looks whether WEIR_SECRETS_KEYS has the keys under which the stored secrets are encrypted: decrypts one of each. */
export async function checkSecrets({
  databaseUrl,
  secretsKeys,
}: Pick<Config, 'databaseUrl' | 'secretsKeys'>): Promise<Result[]> {
  const encryption = createEncryption(secretsKeys);
  const db = connect(databaseUrl, 1);
  try {
    const results: Result[] = [];
    for (const require of [requireModelKeysReadable, requireSigningSecretsReadable])
      await require(db, encryption).catch((error: unknown) =>
        results.push(
          error instanceof SecretUnreadable
            ? failure(`${describe(error)}.`, SECRETS_FIX)
            : failure(`Secrets could not be looked at: ${describe(error)}.`, 'Repeat weir doctor.'),
        ),
      );
    return results;
  } finally {
    db.destroy().catch(() => undefined);
  }
}
