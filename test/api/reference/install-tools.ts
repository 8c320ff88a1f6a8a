// Installs what the tests of the API reference run, from the lock files in clients/: once for each state of them.
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';

const run = promisify(execFile);
export const CLIENTS = path.join(import.meta.dirname, 'clients');
const LOCK = 7_335_019;
const CACHE = path.join(import.meta.dirname, '../../../node_modules/.cache/reference-tools');

/** Installs the npm packages of clients/package.json; returns their folder. */
export function installNpmTools(): Promise<string> {
  return installOnce('npm', 'package-lock.json', async (folder) => {
    for (const name of ['package.json', 'package-lock.json'])
      await cp(path.join(CLIENTS, name), path.join(folder, name));
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder, env });
  });
}

/** Installs the Python packages of clients/requirements.txt; returns the folder of their virtual environment. */
export function installPythonTools(): Promise<string> {
  return installOnce('python', 'requirements.txt', async (folder) => {
    await run('python3', ['-m', 'venv', folder]);
    const requirements = path.join(CLIENTS, 'requirements.txt');
    await run(path.join(folder, 'bin/pip'), ['install', '--quiet', '--no-deps', '-r', requirements]);
  });
}

async function installOnce(
  name: string,
  lockFile: string,
  install: (folder: string) => Promise<void>,
): Promise<string> {
  const folder = path.join(CACHE, name);
  const marker = path.join(folder, '.installed');
  const wanted = await readFile(path.join(CLIENTS, lockFile), 'utf8');
  const isInstalled = async () => (await readFile(marker, 'utf8').catch(() => '')) === wanted;
  if (await isInstalled()) return folder;
  await alone(async () => {
    if (await isInstalled()) return;
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    await install(folder);
    await writeFile(marker, wanted);
  });
  return folder;
}

/** Does `work` while no other test file does: the database of the tests lets one at a time through. */
async function alone(work: () => Promise<void>): Promise<void> {
  const client = new pg.Client(process.env.TEST_DATABASE_URL);
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    await work();
  } finally {
    await client.end();
  }
}
