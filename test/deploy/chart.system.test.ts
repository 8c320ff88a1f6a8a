// The Helm chart, with each file of values that comes with it.
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { SECRET_VARIABLES } from '../../platform/config/read-environment.ts';
import { describeWith } from '../where-available.ts';
import { CHART, checkManifests, helm, type Manifest, render } from './helm.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const MINIMAL = path.join(CHART, 'ci/minimal-values.yaml');
/** The first run builds Helm. */
const BUILD_MAX_MS = 1_200_000;

describeWith(['go'], 'the Helm chart', () => {
  before(async function () {
    this.timeout(BUILD_MAX_MS);
    await helm(['version']);
  });

  for (const values of globSync(path.join(CHART, 'ci/*.yaml')).sort())
    describe(path.basename(values), () => {
      let rendered: string;
      let manifests: Manifest[];
      before(async () => {
        ({ text: rendered, manifests } = await render(values));
      });

      const podsOf = () =>
        manifests
          .filter(({ kind }) => kind === 'Deployment' || kind === 'Job')
          .map(({ metadata: { name }, spec: { template } }) => {
            const [container] = template.spec.containers;
            return { name, template, spec: template.spec, container };
          });

      it('passes the strict lint of Helm', async () => {
        const { code, output } = await helm(['lint', '--strict', CHART, '--values', values]);
        assert.equal(code, 0, output);
      });

      it('makes objects that an API server accepts, with pods of the security standard "restricted"', async function () {
        this.timeout(BUILD_MAX_MS);
        const { code, output } = await checkManifests(rendered);
        assert.equal(code, 0, output);
      });

      it('has processes without root, rights, a writable file system, a token or unlimited resources', () => {
        for (const { name, spec, container } of podsOf()) {
          assert.equal(spec.automountServiceAccountToken, false, name);
          assert.ok(spec.securityContext.runAsNonRoot && spec.securityContext.seccompProfile.type, name);
          assert.deepEqual(
            container.securityContext,
            {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'] },
            },
            name,
          );
          for (const limit of ['cpu', 'memory'])
            assert.ok(container.resources.limits[limit], `${name}: ${limit}`);
        }
      });

      it('hands secrets over as files, each to the processes that need it', () => {
        for (const { name, spec, container } of podsOf()) {
          assert.equal(container.envFrom, undefined);
          const files = spec.volumes
            .flatMap(({ projected }: { projected?: { sources: object[] } }) => projected?.sources ?? [])
            .map(({ secret }: { secret: { items: { path: string }[] } }) => secret.items[0]?.path);
          const named: string[] = [];
          for (const variable of container.env) {
            assert.equal(variable.valueFrom, undefined);
            assert.ok(!SECRET_VARIABLES.includes(variable.name), `${name}: ${variable.name}`);
            const secret = SECRET_VARIABLES.find((known) => variable.name === `${known}_FILE`);
            if (!secret) continue;
            assert.equal(variable.value, `/run/secrets/weir/${secret}`);
            named.push(secret);
          }
          assert.deepEqual(named.sort(), files.sort(), name);
          assert.ok(named.includes('DATABASE_URL'), name);
          if (name === 'weir-migration')
            assert.ok(named.every((secret) => ['DATABASE_URL', 'PGPASSWORD'].includes(secret)));
          if (name === 'weir-webhook-worker') assert.ok(!named.includes('OPENAI_API_KEY'));
          else assert.ok(!named.includes('WEIR_EGRESS_PROXY'), name);
        }
      });

      it('mounts every file that a variable names', () => {
        for (const { name, container } of podsOf())
          for (const { name: variable, value } of container.env)
            if (value.startsWith('/'))
              assert.ok(
                container.volumeMounts.some(({ mountPath }: { mountPath: string }) =>
                  value.startsWith(`${mountPath}/`),
                ),
                `${name}: ${variable} ${value}`,
              );
      });

      it('starts programs that exist', () => {
        for (const { container } of podsOf())
          for (const file of container.command.filter((word: string) => word.endsWith('.ts')))
            assert.ok(existsSync(path.join(ROOT, file)), file);
      });

      it('asks for health over HTTP at a port that is there', () => {
        for (const { name, container } of podsOf().filter(({ name }) => name !== 'weir-migration')) {
          const ports = container.ports.map((port: { name: string }) => port.name);
          for (const [probe, page] of [
            ['startupProbe', '/healthz'],
            ['livenessProbe', '/healthz'],
            ['readinessProbe', '/readyz'],
          ] as const) {
            assert.equal(container[probe].httpGet.path, page, name);
            assert.ok(ports.includes(container[probe].httpGet.port), name);
          }
        }
      });

      it('gives API and workers more time to stop than they take', () => {
        const page = readFileSync(path.join(ROOT, 'docs/operating/shutdown-and-health.md'), 'utf8');
        const said = /A worker ends within (\d+) s, an API within (\d+) s/.exec(page.replaceAll('\n', ' '));
        const [, worker, api] = (said ?? assert.fail('The docs do not say how long a stop takes.')).map(
          Number,
        );
        for (const { name, spec, container } of podsOf().filter(({ name }) => name !== 'weir-migration')) {
          const before = container.lifecycle?.preStop.sleep.seconds ?? 0;
          const takes = name === 'weir-api' ? api : worker;
          assert.ok(spec.terminationGracePeriodSeconds > before + Number(takes), name);
        }
      });

      it('selects every pod with one network policy, which allows only what it lists', () => {
        const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
        for (const { name, template } of podsOf()) {
          const selecting = policies.filter(({ spec }) =>
            matches(spec.podSelector.matchLabels, template.metadata.labels),
          );
          assert.deepEqual(
            selecting.map(({ spec }) => spec.policyTypes),
            [['Ingress', 'Egress']],
            name,
          );
        }
      });

      it('disrupts, spreads and scales deployments that exist', () => {
        const deployments = manifests.filter(({ kind }) => kind === 'Deployment');
        for (const { spec } of manifests.filter(({ kind }) => kind === 'PodDisruptionBudget'))
          assert.equal(
            deployments.filter((one) => matches(spec.selector.matchLabels, one.spec.template.metadata.labels))
              .length,
            1,
          );
        for (const { spec } of manifests.filter(({ kind }) => kind === 'HorizontalPodAutoscaler')) {
          const scaled = deployments.find(({ metadata }) => metadata.name === spec.scaleTargetRef.name);
          assert.ok(scaled && scaled.spec.replicas === undefined, spec.scaleTargetRef.name);
        }
      });
    });

  it('lets the workers of webhooks alone reach the internet, and nobody a private address by it', async () => {
    const { manifests } = await render(MINIMAL);
    const open = manifests.filter(
      ({ kind, spec }) => kind === 'NetworkPolicy' && JSON.stringify(spec.egress).includes('0.0.0.0/0'),
    );
    assert.deepEqual(
      open.map(({ metadata }) => metadata.name),
      ['weir-webhook-worker'],
    );
    const [{ ipBlock }] = open[0]?.spec.egress.at(-1).to ?? assert.fail();
    for (const range of ['10.0.0.0/8', '169.254.0.0/16', '192.168.0.0/16'])
      assert.ok(ipBlock.except.includes(range));
  });

  it('keeps whole numbers whole', async () => {
    const { text } = await render(path.join(CHART, 'ci/everything-values.yaml'));
    assert.match(text, /name: WEIR_RATE_LIMIT_PER_ORGANIZATION\n +value: "1000000"/);
    assert.match(text, /name: WEIR_CODE_PRICE\n +value: "0.5"/);
  });

  const refused: [string, string[], RegExp][] = [
    ['a secret among the variables', ['config.WEIR_SECRETS_KEYS=1:k'], /'WEIR_SECRETS_KEYS' not allowed/],
    ['a variable that does not exist', ['config.WEIR_RETENTION=1'], /'WEIR_RETENTION' not allowed/],
    ['a value that does not exist', ['worker.replica=1'], /'replica' not allowed/],
    ['an ingress without a host', ['ingress.enabled=true'], /ingress/],
    ['a mount of nothing', ['mounts[0].path=/etc/x'], /mounts/],
  ];
  for (const [what, settings, problem] of refused)
    it(`refuses ${what}`, async () => {
      const sets = settings.flatMap((setting) => ['--set', setting]);
      const { code, output } = await helm(['template', 'weir', CHART, '--values', MINIMAL, ...sets]);
      assert.notEqual(code, 0);
      assert.match(output, problem);
    });

  it('refuses values without the secrets that the service needs', async () => {
    const { code, output } = await helm(['template', 'weir', CHART]);
    assert.notEqual(code, 0);
    for (const name of ['DATABASE_URL', 'WEIR_API_KEY_PEPPER', 'WEIR_SECRETS_KEYS', 'TEMPORAL_ADDRESS'])
      assert.ok(output.includes(name), name);
  });
});

function matches(selector: Record<string, string>, labels: Record<string, string>): boolean {
  return Object.entries(selector).every(([name, value]) => labels[name] === value);
}
