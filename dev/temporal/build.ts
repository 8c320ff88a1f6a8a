// Builds Temporal's programs from the pinned Go module in `dev/temporal/server-module/`.
import { spawnSync } from 'node:child_process';
import { readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { beginDraft } from '../cache-folder.ts';
import { startChild } from '../processes/child.ts';
import { type Report, silent } from '../progress.ts';

const MESSAGE_LINES = 15;
const MODULE_FOLDER = path.join(import.meta.dirname, 'server-module');
/** The main packages that the module pins: the CLI with its development server, the full server, its schema tool. */
const MAIN_PACKAGES = {
  cli: 'github.com/temporalio/cli/cmd/temporal',
  server: 'go.temporal.io/server/cmd/server',
  schemaTool: 'go.temporal.io/server/cmd/tools/sql',
};
/** The first Go release that downloads the toolchain named in go.mod. */
const OLDEST_GO = { major: 1, minor: 21 };

/** Builds one of the programs into `target` and returns that path; takes minutes. Throws an Error with the end of Go's output. */
export async function buildTemporal(
  program: keyof typeof MAIN_PACKAGES,
  stateFolder: string,
  target: string,
  report: Report,
  env: NodeJS.ProcessEnv = process.env,
  note: Report = silent,
): Promise<string> {
  requireGo(env);
  report('building it with Go, once, for some minutes');
  // Simultaneous builds write a file each, and the last rename wins.
  const partial = beginDraft(target);
  const build = startChild({
    stateFolder,
    name: 'temporal-build',
    order: 1,
    command: 'go',
    args: [
      'build',
      '-C',
      MODULE_FOLDER,
      '-v',
      '-trimpath',
      '-ldflags=-s -w',
      '-o',
      partial,
      MAIN_PACKAGES[program],
    ],
    env: { ...env, GOFLAGS: '-mod=readonly', GOWORK: 'off', CGO_ENABLED: '0' },
    stopSignal: 'SIGINT',
    stopTimeoutMs: 5_000,
  });
  note(`the log of the build is ${build.logFile}`);
  try {
    const outcome = await build.exited;
    if (outcome !== 'ended with code 0')
      throw new Error(`go build ${outcome}:\n${messagesIn(build.logFile)}`);
    renameSync(partial, target);
    return target;
  } finally {
    rmSync(partial, { force: true });
  }
}

/** Returns the end of Go's output without the names of packages, which it writes as it compiles them. */
function messagesIn(logFile: string): string {
  const lines = readFileSync(logFile, 'utf8').split('\n');
  return lines
    .filter((line) => line.includes(' '))
    .slice(-MESSAGE_LINES)
    .join('\n');
}

function requireGo(env: NodeJS.ProcessEnv): void {
  const result = spawnSync('go', ['env', 'GOVERSION'], { encoding: 'utf8', env, cwd: '/' });
  if (result.status !== 0) throw new Error('Go is not installed');
  const found = result.stdout.trim();
  const [major = 0, minor = 0] = found.replace(/^go/, '').split('.').map(Number);
  const { major: oldestMajor, minor: oldestMinor } = OLDEST_GO;
  if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
    throw new Error(`${found} is too old; Go 1.26.4 or newer is needed`);
  }
}
