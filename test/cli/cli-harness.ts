// Runs the `weir` command as a process; those of the operator on a database of their own.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { createTestDatabase, type TestDatabase } from '../db/test-database.ts';

export const ROOT = path.join(import.meta.dirname, '../..');
export const PEPPER = 'pepper'.repeat(6);

export type Outcome = { code: number | null; stdout: string; stderr: string };
type Environment = { [name: string]: string };

export async function weirIn(env: Environment, args: string[], stdin = ''): Promise<Outcome> {
  const { NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [path.join(ROOT, 'cli/weir.js'), ...args], {
    // The session of whoever runs the tests is not theirs.
    env: { XDG_CONFIG_HOME: '/nonexistent', ...env, NODE_COMPILE_CACHE },
  });
  const code = new Promise<number | null>((resolve) => child.on('close', resolve));
  child.stdin.end(stdin);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, stdout, stderr };
}

/** Gives the enclosing `describe` the operator's commands, a database with the project acme/main, and an empty state folder. */
export function useOperator() {
  const cli = {} as { database: TestDatabase; folder: string; env: Environment };
  before(async () => {
    cli.database = await createTestDatabase();
    cli.folder = await mkdtemp(path.join(tmpdir(), 'weir-cli-'));
    cli.env = { DATABASE_URL: cli.database.url, WEIR_API_KEY_PEPPER: PEPPER, WEIR_STATE_DIR: cli.folder };
    await succeed('org', 'create', 'acme', '--name', 'Acme');
    await succeed('project', 'create', 'acme/main');
  });
  after(async () => {
    await rm(cli.folder, { recursive: true, force: true });
    await cli.database.drop();
  });

  const weir = (...args: string[]) => weirIn(cli.env, ['operator', ...args]);

  /** Runs a command that must succeed; returns its stdout. */
  async function succeed(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await weir(...args);
    assert.equal(code, 0, stderr);
    assert.equal(stderr, '');
    return stdout;
  }
  const succeedJson = async (...args: string[]) => JSON.parse(await succeed(...args, '--json'));

  return { cli, weir, succeed, succeedJson };
}

/** Asserts that a command fails with `code` and prints no stack trace; returns its stderr. */
export async function fail(code: number, outcome: Promise<Outcome>): Promise<string> {
  const { code: actual, stdout, stderr } = await outcome;
  assert.equal(actual, code, stderr);
  assert.equal(stdout, '');
  assert.doesNotMatch(stderr, /^\s+at /m);
  return stderr;
}
