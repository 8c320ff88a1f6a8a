// Runs `weir` commands in this process, or as processes of their own.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { forgetMe } from '../../cli/api/get-resource.ts';
import { runCommand } from '../../cli/run-command.ts';
import { insertOrganization } from '../../db/tenants/organizations.ts';
import { insertProject } from '../../db/tenants/projects.ts';
import { createTestDatabase, type TestDatabase } from '../db/test-database.ts';
import { PEPPER } from '../harness.ts';

export const ROOT = path.join(import.meta.dirname, '../..');

export type Outcome = { code: number | null; stdout: string; stderr: string };
type Environment = { [name: string]: string };

let lastCommand: Promise<unknown> = Promise.resolve();

/** Runs a command in this process, with nothing but `env` in its environment. Commands run one after the other. */
export function weirIn(env: Environment, args: string[], stdin = ''): Promise<Outcome> {
  const outcome = lastCommand.then(() => runHere(env, args, stdin));
  lastCommand = outcome.catch(() => undefined);
  return outcome;
}

async function runHere(env: Environment, args: string[], stdin: string): Promise<Outcome> {
  const { env: ownEnv, stdin: ownStdin, exitCode } = process;
  const input = Object.assign(Readable.from([Buffer.from(stdin)]), { isTTY: false });
  const output = [captureWrites(process.stdout), captureWrites(process.stderr)] as const;
  // The session of the person who runs the tests is not used.
  process.env = { XDG_CONFIG_HOME: '/nonexistent', ...env };
  process.exitCode = undefined;
  Object.defineProperty(process, 'stdin', { value: input, configurable: true });
  try {
    await runCommand(args);
    const [stdout, stderr] = output.map((stream) => stream.text());
    return { code: Number(process.exitCode ?? 0), stdout: stdout ?? '', stderr: stderr ?? '' };
  } finally {
    forgetMe();
    for (const stream of output) stream.restore();
    Object.defineProperty(process, 'stdin', { value: ownStdin, configurable: true });
    process.env = ownEnv;
    process.exitCode = exitCode;
  }
}

/** Keeps what is written to a stream, which looks like a pipe meanwhile. */
function captureWrites(stream: NodeJS.WriteStream) {
  let written = '';
  const { write, isTTY } = stream;
  stream.isTTY = false;
  stream.write = (chunk: string | Uint8Array, ...more: unknown[]) => {
    written += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    const done = more.find((argument) => typeof argument === 'function');
    if (done) setImmediate(done as () => void);
    return true;
  };
  return { text: () => written, restore: () => void Object.assign(stream, { write, isTTY }) };
}

/** Runs a command as a process of its own. */
export async function spawnWeir(env: Environment, args: string[], stdin = ''): Promise<Outcome> {
  const { NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [path.join(ROOT, 'cli/weir.js'), ...args], {
    env: { XDG_CONFIG_HOME: '/nonexistent', ...env, NODE_COMPILE_CACHE },
  });
  const code = new Promise<number | null>((resolve) => child.on('close', resolve));
  child.stdin.end(stdin);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, stdout, stderr };
}

/** Gives the enclosing `describe` a database with the project acme/main, its environment, and an empty state folder. */
export function useDatabase() {
  const cli = {} as {
    database: TestDatabase;
    folder: string;
    env: Environment;
    organizationId: string;
    projectId: string;
  };
  before(async () => {
    cli.database = await createTestDatabase();
    cli.folder = await mkdtemp(path.join(tmpdir(), 'weir-cli-'));
    cli.env = { DATABASE_URL: cli.database.url, WEIR_API_KEY_PEPPER: PEPPER, WEIR_STATE_DIR: cli.folder };
    const { db } = cli.database;
    cli.organizationId = (await insertOrganization(db, { slug: 'acme', name: 'Acme' })).id;
    const project = { organizationId: cli.organizationId, slug: 'main', name: 'main' };
    cli.projectId = (await insertProject(db, project)).id;
  });
  after(async () => {
    await rm(cli.folder, { recursive: true, force: true });
    await cli.database.drop();
  });
  return { cli };
}

/** Asserts that a command fails with `code` and prints no stack trace; returns its stderr. */
export async function fail(code: number, outcome: Promise<Outcome>): Promise<string> {
  const { code: actual, stdout, stderr } = await outcome;
  assert.equal(actual, code, stderr);
  assert.equal(stdout, '');
  assert.doesNotMatch(stderr, /^\s+at /m);
  return stderr;
}
