// Helm, and the check of rendered manifests, built with Go from helm-module/ and kept in the cache folder.
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { cacheFolder } from '../../embedded/cache-folder.ts';

export const CHART = path.join(import.meta.dirname, '../../deploy/helm/weir');
const MODULE = path.join(import.meta.dirname, 'helm-module');
const PACKAGES = { helm: 'helm.sh/helm/v4/cmd/helm', 'check-manifests': './check-manifests' };
const run = promisify(execFile);

/** An object of Kubernetes. */
export type Manifest = {
  kind: string;
  metadata: { name: string; labels: object; annotations?: object };
  // biome-ignore lint/suspicious/noExplicitAny: tests look into objects of every kind, and assert what they find
  spec: any;
};
type Outcome = { code: number | null; output: string };

/** Builds one of the programs, unless the cache has it: that takes minutes. Returns its path. */
async function build(program: keyof typeof PACKAGES): Promise<string> {
  const sources = ['go.mod', 'go.sum', 'check-manifests/main.go'].map((file) =>
    readFileSync(path.join(MODULE, file)),
  );
  const version = createHash('sha256').update(Buffer.concat(sources)).digest('hex').slice(0, 12);
  const target = path.join(cacheFolder(), 'helm', version, program);
  if (existsSync(target)) return target;
  mkdirSync(path.dirname(target), { recursive: true });
  const draft = `${target}.${process.pid}`;
  // Tests beside this one are not to wait for processors.
  const command = ['-n', '10', 'go', 'build', '-C', MODULE, '-trimpath', '-ldflags=-s -w', '-o', draft];
  const env = { ...process.env, GOFLAGS: '-mod=readonly', GOWORK: 'off', CGO_ENABLED: '0' };
  await run('nice', [...command, PACKAGES[program]], { env });
  renameSync(draft, target);
  return target;
}

/** Runs Helm with the chart; answers its exit code and all it printed. */
export async function helm(args: string[]): Promise<Outcome> {
  return pipe(await build('helm'), args, '');
}

/** Renders the chart with a file of values; answers its text and its objects. */
export async function render(values: string): Promise<{ text: string; manifests: Manifest[] }> {
  const { code, output } = await helm(['template', 'weir', CHART, '--values', values]);
  if (code !== 0) throw new Error(output);
  return { text: output, manifests: parseAllDocuments(output).map((document) => document.toJS()) };
}

/** Creates rendered objects as an API server would, short of storing them. */
export async function checkManifests(manifests: string): Promise<Outcome> {
  return pipe(await build('check-manifests'), [], manifests);
}

async function pipe(program: string, args: string[], stdin: string): Promise<Outcome> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve, reject) =>
    child.on('close', resolve).on('error', reject),
  );
  child.stdin.on('error', () => undefined).end(stdin);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, output: stdout + stderr };
}
