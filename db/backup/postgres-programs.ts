// pg_dump, pg_restore and psql of this machine. They get the address and the password in their environment: other
// users of the machine see command lines.
import { execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import pg from 'pg';

type Program = 'pg_dump' | 'pg_restore' | 'psql';

/** Names that libpq has for modes of `pg`. In all others, `pg` verifies certificates: docs/operating/tls.md. */
const LIBPQ_MODES: { [mode: string]: string } = { disable: 'disable', 'no-verify': 'require' };

/** Returns the environment with which the programs connect as `pg` connects to `databaseUrl`. */
export function programEnvironment(databaseUrl: string): NodeJS.ProcessEnv {
  const { host, port, user, database, password } = new pg.Client({ connectionString: databaseUrl });
  const { options, sslmode, sslrootcert, sslcert, sslkey } = Object.fromEntries(
    new URL(databaseUrl).searchParams,
  );
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    PGHOST: host,
    PGPORT: String(port),
    PGUSER: user,
    PGDATABASE: database,
    // Without it, the programs read the file of passwords, as `pg` does.
    ...(password && { PGPASSWORD: password }),
    ...(options && { PGOPTIONS: options }),
    ...(sslcert && { PGSSLCERT: sslcert }),
    ...(sslkey && { PGSSLKEY: sslkey }),
  };
  if (!sslmode) return env;
  env.PGSSLMODE = LIBPQ_MODES[sslmode] ?? 'verify-full';
  if (env.PGSSLMODE === 'verify-full') env.PGSSLROOTCERT = sslrootcert ?? env.PGSSLROOTCERT ?? 'system';
  else delete env.PGSSLROOTCERT;
  return env;
}

/** Throws with what to install unless the programs are there, and as new as the server that `client` is connected to. */
export async function requirePrograms(names: Program[], client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ major: number }>(
    `select current_setting('server_version_num')::int / 10000 as major`,
  );
  const server = rows[0]?.major ?? 0;
  for (const name of names) {
    const version = await findMajor(name);
    if (version !== undefined && version >= server) continue;
    const problem =
      version === undefined
        ? `${name} cannot be run`
        : `${name} is of PostgreSQL ${version}, older than the server of PostgreSQL ${server}`;
    throw new Error(
      `${problem}. Install the client of PostgreSQL ${server} or newer: postgresql-client-${server} on Debian and Ubuntu (if ` +
        'they lack it, from apt.postgresql.org), libpq of Homebrew on macOS. Its folder must come first in PATH.',
    );
  }
}

/** Returns the major version of a program; undefined when it cannot be run. */
async function findMajor(name: Program): Promise<number | undefined> {
  const version = await promisify(execFile)(name, ['--version']).catch(() => undefined);
  const [, major] = /\) (\d+)/.exec(version?.stdout ?? '') ?? [];
  return major === undefined ? undefined : Number(major);
}

/** Starts a program. `done` rejects with the first line of its errors unless it succeeds. */
export function startProgram(name: Program, args: string[], env: NodeJS.ProcessEnv = process.env) {
  const child = spawn(name, args, { env });
  // An interrupted command leaves no program behind.
  const kill = () => child.kill();
  process.once('exit', kill);
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(0, 4_000);
  });
  // Its end says why nothing could be written.
  child.stdin.on('error', () => undefined);
  const done = new Promise<void>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      process.off('exit', kill);
      if (code === 0) resolve();
      else reject(new Error(firstError(errors) ?? `${name} was ended by ${signal}`));
    });
  });
  return { stdin: child.stdin, stdout: child.stdout, done };
}

/** Finds the first error, such as `pg_dump: error: …` or `psql:<stdin>:7: ERROR:  …`, without what stands before it. */
function firstError(text: string): string | undefined {
  const lines = text.trim().split('\n');
  const line = lines.find((one) => /error:|fatal:/i.test(one)) ?? lines[0];
  return line?.replace(/^.*?(?:error|fatal): +/i, '').replace(/\.$/, '') || undefined;
}
