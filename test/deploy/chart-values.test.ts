import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { SECRET_VARIABLES } from '../../platform/config/read-environment.ts';

const ROOT = path.join(import.meta.dirname, '../..');

describe('values of the Helm chart', () => {
  const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
  const { properties, $defs } = JSON.parse(read('deploy/helm/weir/values.schema.json'));

  it('may set every variable of the service but those that the chart sets, and those for tests or a local service', () => {
    const chart =
      read('deploy/helm/weir/templates/_variables.tpl').match(/WEIR_(?:HEALTH|METRICS|WORKER)_\w+/g) ?? [];
    const others = [
      'HOST',
      'METRICS_HOST',
      'PORT',
      'WEBHOOK_LISTENERS',
      'TEST_DIAL_MAP',
      'TEST_WORKFLOW_BUNDLE',
    ];
    const own = new Set([...chart, ...others.map((name) => `WEIR_${name}`), ...SECRET_VARIABLES]);
    const all = globSync('platform/config/*.ts', { cwd: ROOT }).flatMap(
      (file) => read(file).match(/^ {2}WEIR_\w+(?=:)/gm) ?? [],
    );
    const service = all.map((name) => name.trim()).filter((name) => !own.has(name));
    const allowed = Object.keys($defs.config.properties).filter((name) => name.startsWith('WEIR_'));
    assert.deepEqual([...new Set(service)].sort(), allowed.sort());
  });

  it('may set where Temporal is, also by a mounted configuration file', () => {
    for (const name of ['ADDRESS', 'NAMESPACE', 'PROFILE', 'CONFIG_FILE'])
      assert.ok(`TEMPORAL_${name}` in $defs.config.properties, name);
  });

  it('may name an object of Kubernetes for every secret, and for nothing else', () => {
    assert.deepEqual(Object.keys(properties.secrets.properties).sort(), [...SECRET_VARIABLES].sort());
  });

  it('begin with the image of this version', () => {
    const chart = parse(read('deploy/helm/weir/Chart.yaml'));
    assert.deepEqual([chart.version, chart.appVersion], [manifest.version, manifest.version]);
  });
});
