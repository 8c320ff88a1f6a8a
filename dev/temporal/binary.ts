// Finds, downloads or builds the `temporal` binary of a local start.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, createWriteStream, mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { beginDraft, cacheFolder } from '../cache-folder.ts';
import { type Report, silent } from '../progress.ts';
import { buildTemporal } from './build.ts';

const DOWNLOAD_URL = 'https://temporal.download/cli';
const CONNECT_TIMEOUT_MS = 5_000;

/** The archive has 70 MB; over a slower connection a build is quicker. */
const DOWNLOAD_TIMEOUT_MS = 5 * 60_000;
const PROCESSORS: Record<string, string> = { x64: 'amd64', arm64: 'arm64' };

/** The release that is downloaded or built; `dev/temporal/server-module/go.mod` pins the same one. */
export const TEMPORAL_CLI_VERSION = '1.8.2';

type TemporalBinaryOptions = {
  /** The folder for the log and the record of a build. */
  stateFolder: string;
  report?: Report | undefined;
  /** Gets the lines that stay: why there was no download, where the log of the build is. */
  note?: Report | undefined;
  env?: NodeJS.ProcessEnv;
  downloadUrl?: string;
};

type Attempt = { from: string; find: () => string | undefined | Promise<string> };

/**
 * Gets a `temporal` binary that runs: WEIR_TEMPORAL_CLI, PATH, the per-user cache, the official download, a build
 * with Go, in this order. Throws one Error that lists the attempts and the ways out.
 */
export async function getTemporalBinary(options: TemporalBinaryOptions): Promise<string> {
  const { stateFolder, report = silent, note = silent, env = process.env } = options;
  if (env.WEIR_TEMPORAL_CLI) return requireBinary(env.WEIR_TEMPORAL_CLI);
  const cached = cachePath(env);
  const attempts: Attempt[] = [
    { from: '`temporal` on PATH', find: () => findOnPath('temporal', env) },
    { from: `the cache, ${cached}`, find: () => (isExecutable(cached) ? cached : undefined) },
    {
      from: 'the official download',
      find: () => downloadTemporal(TEMPORAL_CLI_VERSION, cached, report, options.downloadUrl),
    },
    { from: 'a build with Go', find: () => buildTemporal('cli', stateFolder, cached, report, env, note) },
  ];
  const failures: string[] = [];
  for (const { from, find } of attempts) {
    try {
      const binary = await find();
      const problem = binary ? findProblem(binary) : 'not found';
      if (binary && !problem) return binary;
      failures.push(`  ${from}: ${problem}`);
    } catch (error) {
      failures.push(`  ${from}: ${error instanceof Error ? error.message : error}`);
      note(`${from} failed: ${error instanceof Error ? error.message : error}`);
    }
  }
  throw new Error(
    `No Temporal server could be found, downloaded or built. Tried:\n${failures.join('\n')}\nDo one of these:\n` +
      '  install the Temporal CLI (https://docs.temporal.io/cli) so that `temporal` is on PATH,\n' +
      '  set WEIR_TEMPORAL_CLI to the path of a `temporal` binary,\n' +
      '  set TEMPORAL_ADDRESS to a running Temporal server,\n' +
      '  install Go 1.26.4 or newer, so that the server can be built from source.',
  );
}

/** Names the cached binary by version, system and processor, so that checkouts share it and versions do not. */
function cachePath(env: NodeJS.ProcessEnv): string {
  const name = `temporal-${TEMPORAL_CLI_VERSION}-${process.platform}-${process.arch}`;
  return path.join(cacheFolder(env), name, 'temporal');
}

function requireBinary(binary: string): string {
  const problem = findProblem(binary);
  if (problem)
    throw new Error(`WEIR_TEMPORAL_CLI is ${binary}, which does not work as a Temporal CLI: ${problem}`);
  return binary;
}

/** Finds the program that a command starts. */
export function findOnPath(command: string, env: NodeJS.ProcessEnv): string | undefined {
  const folders = (env.PATH ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  return folders.map((folder) => path.join(folder, command)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns why a binary cannot be used; undefined when its development server has the options we need. */
function findProblem(binary: string): string | undefined {
  const result = spawnSync(binary, ['server', 'start-dev', '--help'], { encoding: 'utf8', timeout: 20_000 });
  if (result.error) return result.error.message;
  if (result.status !== 0) return `${binary} failed: ${result.stderr.trim().slice(0, 500)}`;
  return result.stdout.includes('--sqlite-pragma')
    ? undefined
    : `${binary} has no development server with --sqlite-pragma`;
}

/** Downloads the release to `target` and returns that path. Gives up after 5 s without an answer. */
export async function downloadTemporal(
  version: string,
  target: string,
  report: Report,
  url = DOWNLOAD_URL,
): Promise<string> {
  const query = new URLSearchParams({
    arch: PROCESSORS[process.arch] ?? process.arch,
    platform: process.platform,
    format: 'tar.gz',
  });
  report(`Looking for Temporal ${version} at ${url}`);
  const info = (await (await get(`${url}/v${version}?${query}`)).json()) as Record<string, unknown>;
  const { archiveUrl, fileToExtract } = info;
  if (typeof archiveUrl !== 'string' || typeof fileToExtract !== 'string') {
    throw new Error(`${url} answered without archiveUrl and fileToExtract`);
  }
  const folder = beginDraft(path.dirname(target));
  mkdirSync(folder, { recursive: true });
  try {
    report(`Downloading Temporal ${version} from ${new URL(archiveUrl).host}`);
    const archive = path.join(folder, 'archive.tar.gz');
    await save(await get(archiveUrl), archive);
    const unpacked = spawnSync('tar', ['-xzf', archive, '-C', folder, fileToExtract], { encoding: 'utf8' });
    if (unpacked.status !== 0) throw new Error(`tar: ${unpacked.error?.message ?? unpacked.stderr.trim()}`);
    mkdirSync(path.dirname(target), { recursive: true });
    renameSync(path.join(folder, fileToExtract), target);
    return target;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Fetches `url`: 5 s for the first byte of the answer, 5 minutes for all of it. */
async function get(url: string): Promise<Response> {
  const giveUp = new AbortController();
  const timer = setTimeout(
    () =>
      giveUp.abort(new Error(`no answer from ${new URL(url).host} within ${CONNECT_TIMEOUT_MS / 1000} s`)),
    CONNECT_TIMEOUT_MS,
  );
  try {
    const signal = AbortSignal.any([giveUp.signal, AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS)]);
    const response = await fetch(url, { signal });
    if (!response.ok) throw new Error(`${url} answered ${response.status}`);
    return response;
  } catch (error) {
    const { cause } = error as Error;
    throw cause instanceof Error ? new Error(`${new URL(url).host}: ${cause.message}`) : error;
  } finally {
    clearTimeout(timer);
  }
}

async function save(response: Response, file: string): Promise<void> {
  if (!response.body) throw new Error('the archive is empty');
  await pipeline(Readable.fromWeb(response.body), createWriteStream(file));
}
