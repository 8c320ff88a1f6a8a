// Builds programs of others from Go modules of this checkout, for the tests that run them.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

/** A test that gave up waiting leaves its build to the next one: a second build beside it would slow down both. */
const building = new Map<string, Promise<string>>();

/** Builds `mainPackage` of the module in `folder`, in minutes, into `target` unless that is there already. Returns `target`. */
export async function buildWithGo(folder: string, mainPackage: string, target: string): Promise<string> {
  if (existsSync(target)) return target;
  const build = building.get(target) ?? start(folder, mainPackage, target);
  building.set(target, build);
  // One that failed, for want of a network for instance, is tried again.
  build.catch(() => building.delete(target));
  return build;
}

async function start(folder: string, mainPackage: string, target: string): Promise<string> {
  mkdirSync(path.dirname(target), { recursive: true });
  // Test files build at the same time: each writes a file of its own, and the last rename wins.
  const draft = `${target}.${process.pid}`;
  // Tests beside this one are not to wait for processors.
  const command = ['-n', '10', 'go', 'build', '-C', folder, '-trimpath', '-ldflags=-s -w', '-o', draft];
  const env = { ...process.env, GOFLAGS: '-mod=readonly', GOWORK: 'off', CGO_ENABLED: '0' };
  await promisify(execFile)('nice', [...command, mainPackage], { env });
  renameSync(draft, target);
  return target;
}

/** Names the state of a module's files, so that another one is built anew. */
export function versionOf(folder: string, files: string[]): string {
  const contents = files.map((file) => readFileSync(path.join(folder, file)));
  return createHash('sha256').update(Buffer.concat(contents)).digest('hex').slice(0, 12);
}
