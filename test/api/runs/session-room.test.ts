import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { measureTrace } from '../../../db/runs/block-traces.ts';
import { SESSION_BLOCKS_MAX } from '../../../db/runs/insert-calls.ts';
import { code, passthrough } from '../../blocks.ts';
import type { Tenant, Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { createStepClient, only, type StepClient } from './step-client.ts';

describe('a session of many block executions', () => {
  let weir: Weir;
  let tenant: Tenant;
  let client: StepClient;
  before(async () => {
    weir = await getSharedWeir();
    tenant = await weir.createTenant();
    client = await createStepClient(weir, tenant);
  });
  after(() => weir.stop());

  /** A session after its first step, whose call has executed so many blocks. */
  async function begin(blocks: number) {
    const flow = await weir.createFlow(tenant, [passthrough('a'), passthrough('b')]);
    const { executionId } = only(await client.step(flow, { stepIndex: 0, message: 'hi' }), 'run_started');
    await sql`
      insert into block_run (execution_id, block_key, step_id, name, processor_type, status, input, output, latency_ms,
        attempts, started_at, finished_at)
      select execution_id, 'a#' || i, 'a', 'a', 'passthrough', 'completed', '{"ref":"$message"}', '"hi"', 1, 1, now(), now()
      from run, generate_series(2, ${blocks}) i where continues = ${executionId}`.execute(weir.db);
    const open = (body: object) => client.open(flow, body);
    const next = { executionId, stepIndex: 1, accumulatedOutputs: { a: 'hi' } };
    return { flow, executionId, open, next };
  }

  /** Notes the bytes that answers ask for, until `end` is called. */
  function watchHeld() {
    const held: number[] = [];
    const { answers } = weir.httpGates;
    const { acquire } = answers;
    answers.acquire = (key, request) => {
      held.push(request?.weight ?? 1);
      return acquire(key, request);
    };
    const end = () => {
      answers.acquire = acquire;
    };
    return { held, end };
  }

  it('goes on while it has room, then is 409, and its fork goes on in a new session', async () => {
    const { flow, executionId, open, next } = await begin(SESSION_BLOCKS_MAX - 1);
    const last = await open(next);
    assert.equal(last.status, 200);
    await last.text();
    const refused = await open(next);
    const { detail } = (await refused.json()) as { detail: { code: string; message: string } };
    assert.deepEqual([refused.status, detail.code], [409, 'CONFLICT']);
    assert.match(detail.message, /in a new session.*fork/);
    const fork = await weir.call('GET', `${flow}/jobs/${executionId}/fork?step=1`, { key: tenant.key });
    assert.equal(fork.status, 200, JSON.stringify(fork.body));
    assert.equal(only(await client.step(flow, fork.body), 'run_completed').result, 'hi');
  });

  it('has its receipt held in memory by turns, as large answers are', async () => {
    const { flow, executionId } = await begin(3_000);
    const { held, end } = watchHeld();
    try {
      const get = (query: string) =>
        weir.call('GET', `${flow}/jobs/${executionId}${query}`, { key: tenant.key });
      assert.equal((await get('')).body.blocks.length, 3_000);
      assert.deepEqual(held, [3_000_000]);
      await get('?receipt=false');
      assert.deepEqual(held, [3_000_000]);
      const url = `${weir.url}/api/v1/seq/${flow}/jobs/${executionId}/events`;
      const stream = await fetch(url, { headers: { authorization: `Bearer ${tenant.key}` } });
      assert.match(await stream.text(), /event: run_in_progress/);
      assert.deepEqual(held, [3_000_000, 3_000_000]);
      assert.ok((await measureTrace(weir.db, executionId)) > 3_000_000);
    } finally {
      end();
    }
  });

  it('has no larger receipts than one call of many: those are held in memory by turns, too', async () => {
    const body = [passthrough('b')];
    const flow = await weir.createFlow(tenant, [
      code('items', 'return Array(80).fill(1);'),
      { type: 'loop', step_id: 'l', name: 'l', max_iterations: 80, body },
    ]);
    const { key } = tenant;
    const { held, end } = watchHeld();
    try {
      const run = await weir.call('POST', `${flow}/execute`, { key, body: { message: 'hi' } });
      assert.equal(run.body.blocks.length, 81);
      await weir.call('GET', `${flow}/jobs/${run.body.executionId}`, { key });
      assert.deepEqual(
        held.map((bytes) => Math.floor(bytes / 1_000)),
        [81, 81],
      );
    } finally {
      end();
    }
  });
});
