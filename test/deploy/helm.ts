// Helm, and the check of rendered manifests, built with Go from helm-module/ and kept in the cache folder.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { parseAllDocuments } from 'yaml';
import { cacheFolder } from '../../dev/cache-folder.ts';
import { buildWithGo, versionOf } from '../build-with-go.ts';

export const CHART = path.join(import.meta.dirname, '../../deploy/helm/weir');
const MODULE = path.join(import.meta.dirname, 'helm-module');
const PACKAGES = { helm: 'helm.sh/helm/v4/cmd/helm', 'check-manifests': './check-manifests' };

/** An object of Kubernetes. */
export type Manifest = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: object; annotations?: object };
  // biome-ignore lint/suspicious/noExplicitAny: tests look into objects of every kind, and assert what they find
  spec: any;
};
type Outcome = { code: number | null; output: string };

/** Builds one of the programs, unless the cache has it: that takes minutes. Returns its path. */
function build(program: keyof typeof PACKAGES): Promise<string> {
  const version = versionOf(MODULE, ['go.mod', 'go.sum', 'check-manifests/main.go']);
  return buildWithGo(MODULE, PACKAGES[program], path.join(cacheFolder(), 'helm', version, program));
}

/** Runs Helm with the chart; answers its exit code and all it printed. */
export async function helm(args: string[], stdin = ''): Promise<Outcome> {
  return pipe(await build('helm'), args, stdin);
}

/** Renders the chart with a file of values, and further ones as YAML; answers its text and its objects. */
export async function render(values: string, more = ''): Promise<{ text: string; manifests: Manifest[] }> {
  const { code, output } = await helm(['template', 'weir', CHART, '--values', values, '--values', '-'], more);
  if (code !== 0) throw new Error(output);
  return { text: output, manifests: parseAllDocuments(output).map((document) => document.toJS()) };
}

/** Creates rendered objects as an API server would, short of storing them. Custom resources are left out: others define them. */
export async function checkManifests(manifests: string): Promise<Outcome> {
  const own = manifests
    .split(/^---$/m)
    .filter((text) => !/^apiVersion: monitoring\.coreos\.com\//m.test(text));
  return pipe(await build('check-manifests'), [], own.join('---'));
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
