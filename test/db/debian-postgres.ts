// PostgreSQL as Debian packages it: a server started here, and the client in PATH. The embedded one has no pg_dump.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { findPostgresAccount } from '../../dev/postgres/account.ts';
import { findFreePort } from '../../dev/processes/ports.ts';
import { waitUntil } from '../wait-until.ts';

const PASSWORD = 'a password';

/** Does what `describe` does, where the machine has the packages postgresql and postgresql-client. */
export function describeWithPostgres(subject: string, body: (this: Mocha.Suite) => void): void {
  if (findPrograms()) describe(subject, body);
  else describe.skip(`${subject} (skipped: no package postgresql of Debian on this machine)`, body);
}

/** Finds the folder of the newest server, if its client is installed too. */
function findPrograms(): string | undefined {
  const folders = globSync('/usr/lib/postgresql/*/bin/{initdb,pg_dump}').map(path.dirname);
  return folders
    .filter((folder, index) => folders.indexOf(folder) !== index)
    .toSorted()
    .at(-1);
}

/** Starts a server on an empty cluster, with TLS where it gets a certificate; `stop` deletes the cluster. */
export async function startDebianPostgres(certificate?: {
  cert: string;
  key: string;
}): Promise<{ url: string; stop(): Promise<void> }> {
  const programs = findPrograms() ?? '';
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-debian-postgres-'));
  const ids = findPostgresAccount(folder)?.ids;
  const data = path.join(folder, 'data');
  const passwordFile = path.join(folder, 'password');
  mkdirSync(data, { mode: 0o700 });
  writeFileSync(passwordFile, `${PASSWORD}\n`);
  if (ids) for (const one of [folder, data, passwordFile]) chownSync(one, ids.uid, ids.gid);
  const made = spawnSync(
    path.join(programs, 'initdb'),
    ['--auth=scram-sha-256', '--username=weir', `--pwfile=${passwordFile}`, '--no-sync', '--locale=C', data],
    { cwd: '/', encoding: 'utf8', ...ids },
  );
  if (made.status !== 0) throw new Error(made.stderr);
  for (const [name, text] of certificate
    ? ([
        ['server.crt', certificate.cert],
        ['server.key', certificate.key],
      ] as const)
    : []) {
    writeFileSync(path.join(data, name), text, { mode: 0o600 });
    if (ids) chownSync(path.join(data, name), ids.uid, ids.gid);
  }
  const port = await findFreePort();
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    ssl: certificate ? 'on' : 'off',
    fsync: 'off',
    max_connections: 200,
  };
  const server = spawn(
    path.join(programs, 'postgres'),
    [
      '-D',
      data,
      '-p',
      String(port),
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    { cwd: '/', stdio: 'ignore', ...ids },
  );
  const ended = once(server, 'exit');
  ended.catch(() => undefined);
  const url = `postgres://weir:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/postgres`;
  await waitUntil(async () => {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      return true;
    } catch {
      return false;
    } finally {
      await client.end().catch(() => undefined);
    }
  });
  return {
    url,
    async stop() {
      server.kill('SIGINT');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}
