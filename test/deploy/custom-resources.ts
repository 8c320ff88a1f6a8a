// The definitions of custom resources, as their own project publishes them, and what an API server would refuse by them.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import type { Manifest } from './helm.ts';

const OPERATOR = 'github.com/prometheus-operator/prometheus-operator';
const VERSION = 'v0.85.0';
/** The checksum of the module, so that the definitions are always the same. */
const SUM = 'h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=';
const run = promisify(execFile);

/** A schema as definitions of custom resources have it. */
type Schema = { [keyword: string]: unknown };

/** Lists what is wrong with a PodMonitor, unknown fields too; rules in CEL (`x-kubernetes-validations`) are not looked at. */
export async function findPodMonitorProblems(manifest: Manifest): Promise<string[]> {
  const definition = parse(readFileSync(path.join(await download(), FILE), 'utf8'));
  const { versions } = definition.spec;
  const [, version] = manifest.apiVersion.split('/');
  const { schema } = versions.find(({ name }: { name: string }) => name === version);
  const { metadata: _, ...own } = schema.openAPIV3Schema.properties;
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  ajv.validate(
    closed({ ...schema.openAPIV3Schema, properties: own, required: ['spec'] }, ['metadata']),
    manifest,
  );
  return (ajv.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

const FILE = 'example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml';

/** Has Go download the project, unless it has it; returns the folder. */
async function download(): Promise<string> {
  const env = { ...process.env, GOWORK: 'off', GOFLAGS: '-mod=mod' };
  const args = ['mod', 'download', '-json', `${OPERATOR}@${VERSION}`];
  // Elsewhere than in the project of whoever runs this.
  const { stdout } = await run('go', args, { env, cwd: tmpdir() });
  const { Dir, Sum } = JSON.parse(stdout);
  if (Sum !== SUM) throw new Error(`${OPERATOR}@${VERSION} has the checksum ${Sum}`);
  return Dir;
}

/** Makes a schema that refuses fields which it does not name, but for `open` at its top. */
function closed(schema: Schema, open: string[] = []): Schema {
  const made = Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [
      keyword,
      keyword === 'properties'
        ? Object.fromEntries(
            Object.entries(value as Schema).map(([name, of]) => [name, closed(of as Schema)]),
          )
        : keyword === 'items' || (keyword === 'additionalProperties' && typeof value === 'object')
          ? closed(value as Schema)
          : value,
    ]),
  );
  if (!schema.properties || schema['x-kubernetes-preserve-unknown-fields']) return made;
  for (const name of open) (made.properties as Schema)[name] = {};
  return { additionalProperties: false, ...made };
}
