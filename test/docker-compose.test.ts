import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import manifest from '../package.json' with { type: 'json' };
import { PROVIDER_VARIABLES } from '../platform/config/providers.ts';
import { variables } from '../platform/config/variables.ts';

type Service = {
  image?: string;
  container_name?: string;
  ports?: string[];
  healthcheck?: { test: string[] };
  environment?: { [name: string]: unknown };
  command?: string[];
  depends_on?: object;
  stop_grace_period?: string;
  logging?: { options: { 'max-size'?: string; 'max-file'?: string } };
  mem_limit?: string;
  cap_drop?: string[];
  security_opt?: string[];
  read_only?: boolean;
  tmpfs?: string[];
  ulimits?: { nofile: number };
  build?: { args: { [name: string]: string } };
};

describe('docker-compose.yml', () => {
  const text = readFileSync(path.join(import.meta.dirname, '../docker-compose.yml'), 'utf8');
  const services: { [name: string]: Service } = parse(text, { merge: true }).services;

  it('is YAML in which every service is there that another waits for', () => {
    for (const [name, { depends_on = {} }] of Object.entries(services))
      for (const other of Object.keys(depends_on)) assert.ok(other in services, `${name} waits for ${other}`);
  });

  it('asks for the secrets that API and worker need', () => {
    for (const name of ['api', 'worker'])
      for (const variable of ['DATABASE_URL', 'WEIR_API_KEY_PEPPER', 'WEIR_SECRETS_KEYS'])
        assert.ok(variable in (services[name]?.environment ?? {}), `${name}: ${variable}`);
  });

  it('passes on every variable of the service but those that it sets itself or that are for tests or a local service', () => {
    const forTests = ['TEST_DIAL_MAP', 'TEST_WORKFLOW_BUNDLE'];
    const own = ['HOST', 'PORT', 'WEBHOOK_LISTENERS', ...forTests];
    const passed = services.worker?.environment ?? {};
    const names = Object.keys(variables.shape).filter((name) => name.startsWith('WEIR_'));
    const left = names.filter((name) => !(name in passed));
    assert.deepEqual(left.sort(), own.map((name) => `WEIR_${name}`).sort());
  });

  it('passes on every provider of models', () => {
    const forTests = ['DEMO_API_KEY', 'DEMO_API'];
    const passed = services.worker?.environment ?? {};
    assert.deepEqual(
      PROVIDER_VARIABLES.filter((name) => !(name in passed)),
      forTests,
    );
  });

  it('gives every image a tag, its own the version of the package', () => {
    for (const [name, { image }] of Object.entries(services)) assert.match(image ?? '', /:.*\d/, name);
    assert.equal(services.api?.image, `weir:${manifest.version}`);
  });

  it('bounds the log and the memory of every service', () => {
    for (const [name, { logging, mem_limit }] of Object.entries(services)) {
      assert.ok(logging?.options['max-size'] && logging.options['max-file'], name);
      assert.match(mem_limit ?? '', /\d[mg]\}?$/, name);
    }
  });

  it('confines Weir as the Helm chart does, and lets it open as many files as docs/operating/sizing.md says', () => {
    const folder = path.join(import.meta.dirname, '..');
    const pod = readFileSync(path.join(folder, 'deploy/helm/weir/templates/_pod.tpl'), 'utf8');
    assert.match(pod, /readOnlyRootFilesystem: true\n\s+capabilities: \{ drop: \[ALL\] \}/);
    const [, tmp = ''] = /emptyDir: \{ sizeLimit: (\d+)Mi \}/.exec(pod) ?? [];
    const sizing = readFileSync(path.join(folder, 'docs/operating/sizing.md'), 'utf8');
    for (const name of ['api', 'worker', 'migrate']) {
      const service = services[name] ?? assert.fail(name);
      assert.deepEqual(service.cap_drop, ['ALL']);
      assert.deepEqual(service.security_opt, ['no-new-privileges:true']);
      assert.equal(service.read_only, true);
      assert.deepEqual(service.tmpfs, [`/tmp:size=${tmp}m,mode=1777`]);
      assert.ok(
        sizing.includes(`${service.ulimits?.nofile.toLocaleString('en')}`),
        'the limit of open files',
      );
    }
  });

  it('names the build as the Dockerfile takes it, and passes on an authority of the operator', () => {
    assert.deepEqual(Object.keys(services.api?.build?.args ?? {}), ['WEIR_BUILD']);
    assert.match(readFileSync(path.join(import.meta.dirname, '../Dockerfile'), 'utf8'), /^ARG WEIR_BUILD=/m);
    for (const name of ['migrate', 'api', 'worker'])
      assert.ok('NODE_EXTRA_CA_CERTS' in (services[name]?.environment ?? {}), name);
  });

  it('reads every variable of .env.example, which has the two that are required', () => {
    const example = readFileSync(path.join(import.meta.dirname, '../.env.example'), 'utf8');
    const names = [...example.matchAll(/^#?([A-Z_]+)=/gm)].map(([, name]) => name ?? '');
    const passed = services.worker?.environment ?? {};
    for (const name of names)
      assert.ok(passed[name] === null || text.includes(`\${${name}`), `${name} has no effect`);
    const required = [...text.matchAll(/\$\{([A-Z_]+):\?/g)].map(([, name]) => name ?? '');
    assert.deepEqual(
      [...example.matchAll(/^([A-Z_]+)=$/gm)].map(([, name]) => name),
      required,
    );
  });

  it('keeps the password out of addresses, so that it may hold any character', () => {
    assert.doesNotMatch(text, /:\/\/[^\s]*POSTGRES_PASSWORD/);
    assert.ok('PGPASSWORD' in (services.migrate?.environment ?? {}));
  });

  it('can start several replicas of the API, on a range of ports', () => {
    assert.equal(services.api?.container_name, undefined);
    assert.deepEqual(services.api?.ports, [`127.0.0.1:\${WEIR_PORT:-8787}:8787`]);
  });

  it('asks API and worker for their health with a file of the image, at the ports where they serve it', () => {
    const ports = { api: 8787, worker: services.worker?.environment?.WEIR_HEALTH_PORT };
    for (const [name, port] of Object.entries(ports)) {
      const [, , file = '', url] = services[name]?.healthcheck?.test ?? [];
      assert.ok(existsSync(path.join(import.meta.dirname, '..', file)), file);
      assert.equal(url, `http://127.0.0.1:${port}/readyz`);
    }
  });

  it('has PostgreSQL accept more connections than Temporal, an API and three workers open', () => {
    const { environment = {} } = services.temporal ?? {};
    const ofTemporal = 4 * (Number(environment.SQL_MAX_CONNS) + Number(environment.SQL_VIS_MAX_CONNS));
    const ofProcess = variables.shape.WEIR_DATABASE_CONNECTIONS.parse(undefined);
    const accepted = Number(services.postgres?.command?.at(-1)?.replace('max_connections=', ''));
    assert.ok(accepted > ofTemporal + 4 * ofProcess, `${accepted}, ${ofTemporal} + 4 × ${ofProcess}`);
  });

  it('gives API and worker more time to stop than docs/operating/ says they take', () => {
    const operating = readFileSync(
      path.join(import.meta.dirname, '../docs/operating/shutdown-and-health.md'),
      'utf8',
    );
    const said = /A worker ends within (\d+) s, an API within (\d+) s/.exec(operating.replaceAll('\n', ' '));
    const [, worker, api] = said ?? assert.fail('docs/operating/ does not say how long a stop takes.');
    assert.ok(Number.parseInt(services.worker?.stop_grace_period ?? '', 10) > Number(worker));
    assert.ok(Number.parseInt(services.api?.stop_grace_period ?? '', 10) > Number(api));
  });
});

describe('Dockerfile', () => {
  const text = readFileSync(path.join(import.meta.dirname, '../Dockerfile'), 'utf8');
  const stages = text.split(/^FROM /m).slice(1);
  const last = stages.at(-1) ?? '';

  it('ships the console, which a stage of its own builds with its packages', () => {
    const stage =
      stages.find((one) => / AS console\n/.test(one)) ?? assert.fail('There is no stage for the console.');
    assert.match(stage, /^RUN npm ci .*--workspace console/m);
    const [, program = ''] = /^RUN node (console\S+)$/m.exec(stage) ?? [];
    assert.ok(existsSync(path.join(import.meta.dirname, '..', program)), program);
    assert.match(last, /^COPY --from=console \/app\/dist\/console dist\/console$/m);
  });

  it('ships no packages that only builds and tests need', () => {
    const from = [...last.matchAll(/^COPY --from=(\w+) .*node_modules$/gm)].map(([, name]) => name);
    assert.deepEqual(from, ['dependencies']);
    assert.match(stages[0] ?? '', /^RUN npm ci --omit=dev /m);
  });
});
