// Builds a real S3 server, the Versity S3 Gateway, from the Go module in server-module/, once per user.
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../../dev/cache-folder.ts';

const MODULE_FOLDER = path.join(import.meta.dirname, 'server-module');
const MAIN_PACKAGE = 'github.com/versity/versitygw/cmd/versitygw';

/** How long a test that needs the server may wait for its first build, which takes some two minutes. */
export const BUILD_MAX_MS = 900_000;

/** Whether the server is there already, or Go to build it. */
export function canHaveS3Server(): boolean {
  return existsSync(binaryPath()) || spawnSync('go', ['version']).status === 0;
}

/** Returns the path of the server's program, after it was built where that is needed. */
export async function findS3Binary(): Promise<string> {
  const binary = binaryPath();
  if (existsSync(binary)) return binary;
  mkdirSync(path.dirname(binary), { recursive: true });
  // Test files build at the same time: each writes a file of its own, and the last rename wins.
  const partial = `${binary}.${process.pid}`;
  const args = ['build', '-C', MODULE_FOLDER, '-trimpath', '-ldflags=-s -w', '-o', partial, MAIN_PACKAGE];
  const env = { ...process.env, GOFLAGS: '-mod=readonly', GOWORK: 'off', CGO_ENABLED: '0' };
  await promisify(execFile)('go', args, { env, timeout: BUILD_MAX_MS });
  renameSync(partial, binary);
  return binary;
}

function binaryPath(): string {
  const module = readFileSync(path.join(MODULE_FOLDER, 'go.mod'), 'utf8');
  const [, version = ''] = /versity\/versitygw v(\S+)/.exec(module) ?? [];
  const name = `versitygw-${version}-${process.platform}-${process.arch}`;
  return path.join(cacheFolder(), name, 'versitygw');
}
