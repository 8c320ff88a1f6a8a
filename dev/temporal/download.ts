import { spawnSync } from 'node:child_process';
import { createWriteStream, mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { beginDraft } from '../begin-draft.ts';
import type { Report } from '../progress.ts';

const DOWNLOAD_URL = 'https://temporal.download/cli';
const CONNECT_TIMEOUT_MS = 5_000;
/** The archive has 70 MB; over a slower connection a build is quicker. */
const DOWNLOAD_TIMEOUT_MS = 5 * 60_000;
const PROCESSORS: Record<string, string> = { x64: 'amd64', arm64: 'arm64' };

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
