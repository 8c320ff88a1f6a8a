import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { llm } from '../../blocks.ts';
import { waitUntil } from '../../wait-until.ts';
import { itWith } from '../../where-available.ts';
import { type MeasuredService, makeFailures, makeTraffic, startMeasuredService } from './measured-service.ts';
import { metricsOf, namesIn, readQueries, readRules } from './metric-names.ts';
import { startPrometheus } from './prometheus.ts';

const PAGE = path.join(import.meta.dirname, '../../../docs/operating/metrics.md');
/** Metrics of the SDK that are there only once something has failed. */
const ONLY_OF_FAILURES = ['temporal_workflow_task_execution_failed_total'];
/** The 99th percentile and the longest delay are shown. */
const NOT_SHOWN = ['nodejs_eventloop_delay_p50_seconds', 'nodejs_eventloop_delay_p90_seconds'];
/** Prometheus makes it of each scrape. */
const OF_PROMETHEUS = 'up';

describe('/metrics', () => {
  let service: MeasuredService;
  let text: string;
  before(async () => {
    service = await startMeasuredService();
    await makeTraffic(service);
    text = await waitUntil(async () => {
      const text = await service.scrape();
      // On a busy machine, a part may seem away.
      const isSettled = /^weir_dependency_up\{dependency="database".* 1$/m.test(text);
      return isSettled && text.includes('nodejs_eventloop_delay_p99_seconds') && text;
    });
  });
  after(() => service?.stop());

  const numberOf = (text: string, series: RegExp) =>
    Number(
      text
        .split('\n')
        .find((line) => series.test(line))
        ?.replace(/.* /, ''),
    );

  it('counts what the service did', () => {
    const expected: [RegExp, number][] = [
      [/^weir_run_starts_total\{mode="execute".*kind="new"/, 4],
      [/^weir_job_acceptance_duration_seconds_count/, 1],
      [/^weir_run_duration_seconds_count\{mode="execute",outcome="completed"/, 2],
      [/^weir_run_duration_seconds_count\{mode="execute",outcome="failed"/, 2],
      [/^weir_run_failures_total\{.*error_type="CODE_ERROR"/, 1],
      [/^weir_run_failures_total\{mode="jobs",error_type="INTERNAL_ERROR"/, 0],
      [/^weir_run_failures_total\{mode="step",error_type="MODEL_KEY_REJECTED"/, 0],
      [/^weir_http_open_requests\{kind="call"/, 0],
      [/^weir_run_time_to_first_block_seconds_count\{mode="execute"/, 4],
      [/^weir_block_duration_seconds_count\{type="passthrough",outcome="completed"/, 3],
      [/^weir_block_failures_total\{type="code",error_type="CODE_TIMEOUT"/, 1],
      [/^weir_sandbox_timeouts_total/, 1],
      [/^weir_credits_refusals_total\{reason="balance"/, 1],
      [/^gen_ai_client_operation_duration_seconds_count\{.*model="chat"/, 3],
      [/^gen_ai_client_token_usage_sum\{.*gen_ai_token_type="input"/, 3_000],
      [/^weir_webhook_attempt_duration_seconds_count\{result="failed_retry"/, 1],
      [/^weir_build_info\{version="\d+\.\d+\.\d+",build=""/, 1],
      [/^weir_model_oldest_call_age_seconds\{gen_ai_provider_name="demo"/, 0],
      [/^weir_dependency_up\{dependency="database"/, 1],
      [/^db_client_connection_max/, 20],
      [/^http_server_request_duration_seconds_count\{(?!.*error_type)(?=.*status_code="401")/, 1],
    ];
    for (const [series, value] of expected) assert.equal(numberOf(text, series), value, String(series));
  });

  it('has the metrics of the SDK', () => {
    assert.match(text, /^temporal_worker_task_slots_available\{/m);
    assert.match(text, /^temporal_workflow_task_schedule_to_start_latency_seconds_count\{/m);
  });

  it('has permits and queues of every gate', () => {
    const gates = (metric: string) =>
      [...text.matchAll(RegExp(`^${metric}{gate="(\\w+)"`, 'gm'))].map(([, gate]) => gate).sort();
    const fixed = [
      'answers',
      'bodies',
      'inputs',
      'model_answers',
      'prompts',
      'requests',
      'run_starts',
      'sandbox',
      'webhooks',
    ];
    for (const metric of ['weir_gate_permits', 'weir_gate_queued', 'weir_gate_oldest_wait_seconds'])
      assert.deepEqual(
        gates(metric).filter((gate) => !gate?.startsWith('models_')),
        fixed,
      );
    assert(gates('weir_gate_permits').includes('models_demo'));
  });

  it('names each metric once', () => {
    const types = text.split('\n').filter((line) => line.startsWith('# TYPE'));
    assert.deepEqual(types, [...new Set(types)]);
  });

  it('has every metric that rules and dashboard ask for', () => {
    const names = namesIn(text);
    const asked = [...readRules().map(({ expr }) => expr), ...readQueries()].flatMap(metricsOf);
    assert.ok(asked.length > 50);
    const missing = new Set(asked.filter((name) => !names.has(name)));
    assert.deepEqual([...missing].sort(), [...ONLY_OF_FAILURES, OF_PROMETHEUS].sort());
  });

  it('is all on the dashboard, but for two percentiles of one thing', () => {
    const rows = readFileSync(PAGE, 'utf8').matchAll(/^\| `(\w+)` \|/gm);
    const shown = readQueries()
      .flatMap(metricsOf)
      .map((name) => name.replace(/_(count|sum|bucket)$/, ''));
    const absent = [...rows]
      .map(([, name]) => name ?? '')
      .filter((name) => !shown.includes(name.replace(/_count$/, '')));
    assert.deepEqual(absent, NOT_SHOWN);
  });

  it('has nothing that the documentation does not name', () => {
    const page = readFileSync(PAGE, 'utf8');
    const own = [...namesIn(text)].filter((name) => /^(weir|db|http|gen_ai|nodejs|process)_/.test(name));
    const missing = own.filter((name) => !page.includes(`\`${name.replace(/_(count|sum|bucket)$/, '')}`));
    assert.deepEqual(
      missing.filter((name) => !page.includes(`\`${name}`)),
      [],
    );
  });

  it('has no more series for hostile paths, methods, models and keys', async () => {
    const { weir, tenant, call, url, scrape } = service;
    const attack = async (name: string) => {
      const flow = await weir.createFlow(tenant, [llm('ask', 'ask', `demo/${name}`)]);
      await call('POST', `${flow}/execute`, { key: tenant.key, body: { message: name } });
      await call('GET', `/${name}/${name}`, { key: `${name}` });
      await call('POST', `${name}/${name}/${name}/execute`, { key: tenant.key, body: { message: name } });
      await fetch(`${url}/${name}`, { method: `X${name.replaceAll(/\W/g, '')}` });
      await fetch(`${url}/console/${name}`);
    };
    const count = async () => {
      const lines = (await scrape()).split('\n');
      return lines.filter((line) => /^(weir|db|http|gen_ai)_/.test(line)).length;
    };
    await attack('first');
    await waitUntil(async () => (await scrape()).includes('gen_ai_request_model="other"'));
    const before = await count();
    for (const name of ['mischief', '"}evil{a="', 'third\\', '%0A# TYPE x counter', 'n'.repeat(500)])
      await attack(encodeURIComponent(name));
    assert.equal(await count(), before);
    const after = await scrape();
    for (const word of [
      'mischief',
      'evil',
      'third',
      'nnnnn',
      tenant.organization,
      tenant.organizationId,
      tenant.keyId,
    ])
      assert.ok(!after.includes(word), word);
  });

  it('is all that is served there', async () => {
    const at = `http://127.0.0.1:${service.metricsPort}`;
    assert.equal((await fetch(`${at}/`)).status, 404);
    assert.equal((await fetch(`${at}/metrics`, { method: 'POST', body: 'x' })).status, 405);
    const many = await Promise.all(Array.from({ length: 40 }, () => fetch(`${at}/metrics`)));
    for (const response of many) assert.equal(response.status, 200, await response.text());
  });

  itWith(
    ['prometheus'],
    'is scraped by Prometheus, which has a series for each query of the dashboard and answers each rule',
    async () => {
      const prometheus = await startPrometheus(`127.0.0.1:${service.metricsPort}`);
      try {
        await waitUntil(async () => (await prometheus.ask('up{job="weir"} == 1')).length === 1);
        const [found] = await prometheus.ask('sum(weir_run_starts_total{mode="execute"})');
        assert.ok(Number(found?.value[1]) >= 4);
        await makeFailures(service);
        const ask = (query: string) =>
          prometheus.ask(query.replaceAll('$__rate_interval', '1m').replaceAll('$job', '.*'));
        // A rate needs two scrapes: these metrics are the last ones to come.
        for (const metric of [
          'http_server_request_duration_seconds',
          'gen_ai_client_operation_duration_seconds',
        ])
          await waitUntil(async () => (await ask(`rate(${metric}_count{error_type!=""}[1m])`)).length > 0);
        const silent: string[] = [];
        for (const query of readQueries()) if ((await ask(query)).length === 0) silent.push(query);
        assert.deepEqual(silent, []);
        const rules = await waitUntil(async () => {
          const { data } = await prometheus.get('/api/v1/rules');
          const { rules } = data.groups[0];
          return rules.every(({ health }: { health: string }) => health !== 'unknown') && rules;
        });
        for (const { name, health, lastError } of rules) assert.equal(health, 'ok', `${name}: ${lastError}`);
      } finally {
        await prometheus.stop();
      }
    },
  );
});
