// What a file held before: when it was last pulled or pushed here, and in the commits of its branch.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, realpath, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const COMMITS_MAX = 500;
const OUTPUT_MAX_BYTES = 16 * 1024 * 1024;
const run = promisify(execFile);

/** Lists what a file held, newest first: what was remembered of it for `place`, then its texts in git, where it is in git. */
export async function* pastTexts(file: string, place: string): AsyncGenerator<string> {
  const remembered = await readFile(await memoryOf(file, place), 'utf8').catch(() => undefined);
  if (remembered !== undefined) yield remembered;
  // Each commit is followed by the name that the file had in it.
  const log = await git(
    file,
    '-c',
    'core.quotePath=false',
    'log',
    '--follow',
    '--format=%H',
    '--name-only',
    '-n',
    String(COMMITS_MAX),
    '--',
    path.basename(file),
  );
  let commit = '';
  for (const line of log?.split('\n') ?? [])
    if (/^[0-9a-f]{40,64}$/.test(line)) commit = line;
    else if (line !== '') {
      const text = await git(file, 'show', `${commit}:${line}`);
      if (text !== undefined) yield text;
    }
}

/** Tells whether git has only the latest commits of the branch, as in a checkout of depth 1. */
export async function isShallow(file: string): Promise<boolean> {
  return (await git(file, 'rev-parse', '--is-shallow-repository'))?.trim() === 'true';
}

/** Remembers what a file holds at `place` (a service and a flow). What cannot be remembered is asked about, not lost. */
export async function remember(file: string, place: string, text: string): Promise<void> {
  const memory = await memoryOf(file, place);
  const written = `${memory}.${process.pid}`;
  await mkdir(path.dirname(memory), { recursive: true, mode: 0o700 })
    .then(() => writeFile(written, text, { mode: 0o600 }))
    .then(() => rename(written, memory))
    .catch(() => undefined);
}

async function memoryOf(file: string, place: string): Promise<string> {
  const state = process.env.XDG_STATE_HOME || path.join(homedir(), '.local/state');
  const real = await realpath(file).catch(() => path.resolve(file));
  const name = createHash('sha256')
    .update(JSON.stringify([place, real]))
    .digest('hex');
  return path.join(state, 'weir/drafts', name);
}

/** Runs git in the folder of a file; returns undefined without git, without a repository, or if git fails. */
async function git(file: string, ...args: string[]): Promise<string | undefined> {
  const options = { cwd: path.dirname(file), maxBuffer: OUTPUT_MAX_BYTES, encoding: 'utf8' } as const;
  return run('git', args, options).then(
    ({ stdout }) => stdout,
    () => undefined,
  );
}
