// The variables and rules that the Helm chart gives each process.
import assert from 'node:assert/strict';
import path from 'node:path';
import { describeWith } from '../where-available.ts';
import { findPodMonitorProblems } from './custom-resources.ts';
import { CHART, helm, type Manifest, render } from './helm.ts';

const MINIMAL = path.join(CHART, 'ci/minimal-values.yaml');
const EVERYTHING = path.join(CHART, 'ci/everything-values.yaml');
const PROCESSES = ['weir-api', 'weir-worker', 'weir-webhook-worker'];

/** Lists the variables of each process and of the migration. */
function variablesOf(manifests: Manifest[]): { [name: string]: { [variable: string]: string } } {
  const pods = manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'Job');
  return Object.fromEntries(
    pods.map(({ metadata, spec }) => [
      metadata.name,
      Object.fromEntries(
        spec.template.spec.containers[0].env.map(({ name, value }: { name: string; value: string }) => [
          name,
          value,
        ]),
      ),
    ]),
  );
}

describeWith(['go'], 'the Helm chart', function () {
  /** The first run builds Helm. */
  this.timeout(1_200_000);

  describe('config', () => {
    for (const [written, text] of [
      ['off', 'off'],
      ['on', 'on'],
      ['"off"', 'off'],
      ['false', 'off'],
    ])
      it(`hands ${written} over as ${text} where a variable takes these`, async () => {
        const { manifests } = await render(
          MINIMAL,
          `config: { WEIR_TEMPORAL_ENCRYPTION: ${written}, TEMPORAL_TLS: true, OTEL_SDK_DISABLED: false }
worker: { config: { WEIR_OBJECT_STORE_PATH_STYLE: ${written} } }`,
        );
        const variables = variablesOf(manifests);
        for (const name of PROCESSES) {
          assert.equal(variables[name]?.WEIR_TEMPORAL_ENCRYPTION, text, name);
          assert.equal(variables[name]?.TEMPORAL_TLS, 'true', name);
          assert.equal(variables[name]?.OTEL_SDK_DISABLED, 'false', name);
        }
        assert.equal(variables['weir-worker']?.WEIR_OBJECT_STORE_PATH_STYLE, text);
      });

    it('refuses on and off where a variable takes something else', async () => {
      for (const more of [
        'config: { WEIR_LOG_LEVEL: off }',
        'worker: { config: { WEIR_SANDBOX_RESERVE: no } }',
      ]) {
        const { code, output } = await helm(
          ['template', 'weir', CHART, '--values', MINIMAL, '--values', '-'],
          more,
        );
        assert.notEqual(code, 0, more);
        assert.match(output, /WEIR_(LOG_LEVEL|SANDBOX_RESERVE)': got boolean, want number or string/);
      }
    });

    it('is given to the migration too, which checks certificates and logs like the others', async () => {
      const more = 'config: { NODE_EXTRA_CA_CERTS: /etc/weir/postgres/ca.crt, WEIR_LOG_LEVEL: warn }';
      const { manifests } = await render(path.join(CHART, 'ci/postgres-tls-values.yaml'), more);
      const { DATABASE_URL_FILE, NODE_EXTRA_CA_CERTS, WEIR_LOG_LEVEL } =
        variablesOf(manifests)['weir-migration'] ?? {};
      assert.ok(DATABASE_URL_FILE);
      assert.deepEqual([NODE_EXTRA_CA_CERTS, WEIR_LOG_LEVEL], ['/etc/weir/postgres/ca.crt', 'warn']);
    });
  });

  it('says that the database is up to date only where the chart migrates it', async () => {
    const notes = async (more: string) => {
      const args = ['install', 'weir', CHART, '--dry-run=client', '--values', MINIMAL, '--values', '-'];
      const { code, output } = await helm(args, more);
      assert.equal(code, 0, output);
      return output.slice(output.indexOf('NOTES:'));
    };
    assert.match(await notes(''), /is starting as weir\. Its database is up to date\.$/m);
    const unmigrated = await notes('migration: { enabled: false }');
    assert.doesNotMatch(unmigrated, /up to date/);
    assert.match(unmigrated, /did not migrate its database/);
  });

  it('takes the key of a collector from a Secret, and not among the variables', async () => {
    const { manifests } = await render(
      MINIMAL,
      'secrets: { OTEL_EXPORTER_OTLP_HEADERS: { name: collector, key: headers } }',
    );
    const variables = variablesOf(manifests);
    for (const name of PROCESSES)
      assert.equal(
        variables[name]?.OTEL_EXPORTER_OTLP_HEADERS_FILE,
        '/run/secrets/weir/OTEL_EXPORTER_OTLP_HEADERS',
        name,
      );
    const { code, output } = await helm(
      ['template', 'weir', CHART, '--values', MINIMAL, '--values', '-'],
      'config: { OTEL_EXPORTER_OTLP_HEADERS: api-key=k }',
    );
    assert.notEqual(code, 0);
    assert.match(
      output,
      /OTEL_EXPORTER_OTLP_HEADERS is secret: put it into a Secret and name that in `secrets`/,
    );
  });

  it('gives the service account the annotations by which a cloud gives it a role', async () => {
    const more = 'serviceAccount: { annotations: { eks.amazonaws.com/role-arn: arn:aws:iam::1:role/weir } }';
    const { manifests } = await render(MINIMAL, more);
    const account = manifests.find(({ kind }) => kind === 'ServiceAccount');
    assert.deepEqual(account?.metadata.annotations, {
      'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/weir',
    });
  });

  it('lets every process reach the object store, where one is named, and the migration not', async () => {
    const reaching = async (values: string) =>
      (await render(values)).manifests
        .filter(
          ({ kind, spec }) =>
            kind === 'NetworkPolicy' && JSON.stringify(spec.egress).includes('203.0.113.9/32'),
        )
        .map(({ metadata }) => metadata.name);
    assert.deepEqual((await reaching(EVERYTHING)).sort(), [...PROCESSES].sort());
  });

  it('has Prometheus scrape every process, when it is asked to', async () => {
    const { manifests } = await render(
      MINIMAL,
      'metrics: { enabled: true, podMonitor: { enabled: true, labels: { release: prometheus }, interval: 30s } }',
    );
    const monitor = manifests.find(({ kind }) => kind === 'PodMonitor');
    assert.deepEqual(
      [monitor?.apiVersion, monitor?.metadata.labels],
      ['monitoring.coreos.com/v1', { ...monitor?.metadata.labels, release: 'prometheus' }],
    );
    assert.deepEqual(await findPodMonitorProblems(monitor as Manifest), []);
    assert.equal(monitor?.spec.jobLabel, 'app.kubernetes.io/name');
    const [endpoint] = monitor?.spec.podMetricsEndpoints ?? [];
    assert.deepEqual(endpoint, { port: 'metrics', interval: '30s' });
    const { matchLabels, matchExpressions } = monitor?.spec.selector ?? {};
    const [{ key, operator, values }] = matchExpressions;
    assert.equal(operator, 'In');
    const scraped = manifests
      .filter(({ kind }) => kind === 'Deployment' || kind === 'Job')
      .filter(({ spec: { template } }) => {
        const { labels } = template.metadata;
        const isSelected = Object.entries(matchLabels).every(([name, value]) => labels[name] === value);
        return isSelected && values.includes(labels[key]);
      });
    assert.deepEqual(scraped.map(({ metadata }) => metadata.name).sort(), [...PROCESSES].sort());
    for (const { spec } of scraped)
      assert.ok(
        spec.template.spec.containers[0].ports.some(({ name }: { name: string }) => name === endpoint.port),
      );
  });

  it('would have the check of PodMonitors find misspelt fields, wrong values and missing ones', async () => {
    const metadata = { name: 'weir', labels: {} };
    const broken = {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PodMonitor',
      metadata,
      spec: { jobLable: 'weir', podMetricsEndpoints: [{ port: 'metrics', interval: 'often' }] },
    };
    const problems = (await findPodMonitorProblems(broken)).join('\n');
    for (const part of [/jobLable/, /^\/spec\/podMetricsEndpoints\/0\/interval must match/m, /"selector"/])
      assert.match(problems, part);
  });

  it('makes no PodMonitor where there are no metrics', async () => {
    const { code, output } = await helm(
      ['template', 'weir', CHART, '--values', MINIMAL, '--values', '-'],
      'metrics: { podMonitor: { enabled: true } }',
    );
    assert.notEqual(code, 0);
    assert.match(output, /metrics.podMonitor needs metrics.enabled/);
  });
});
