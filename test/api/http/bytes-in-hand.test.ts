// Large values are in hand in turns between organizations: what waits for them holds nothing else up.

import assert from 'node:assert/strict';
import { BODY_MAX_BYTES } from '../../../api/http/receive-body.ts';
import type { Step } from '../../../flow/definition.ts';
import { ACTIVITY_BYTES_EACH, REQUEST_BYTES_EACH } from '../../../platform/limits/gates.ts';
import { code, passthrough } from '../../blocks.ts';
import { countLockWaiters, lockWaiters } from '../../db/lock-waiters.ts';
import type { Answer, Tenant, Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { untilRescheduled } from '../../until-rescheduled.ts';

const LARGE = 'x'.repeat(256 * 1024);

describe('large values of one organization', () => {
  let weir: Weir;
  let hostile: Tenant;
  let innocent: Tenant;
  const { timeout } = AbortSignal;
  before(async () => {
    // What waits for its turn here may wait for longer than it is given.
    AbortSignal.timeout = () => new AbortController().signal;
    weir = await getSharedWeir();
    [hostile, innocent] = [await weir.createTenant(), await weir.createTenant()];
  });
  after(async () => {
    AbortSignal.timeout = timeout;
    await weir.stop();
  });

  const post = (flow: string, tenant: Tenant, endpoint: string, message: string) =>
    weir.call('POST', `${flow}/${endpoint}`, { key: tenant.key, body: { message } });
  const get = (flow: string, tenant: Tenant, path: string) =>
    weir.call('GET', `${flow}/jobs/${path}`, { key: tenant.key });
  const createFlow = (tenant: Tenant, steps: Step[] = [passthrough('a')]) => weir.createFlow(tenant, steps);

  it('wait as request bodies over its share, while another’s are taken', async () => {
    const [flow, other] = [await createFlow(hostile), await createFlow(innocent)];
    const body = 'x'.repeat(BODY_MAX_BYTES - 1_024);
    const fitting = Math.floor(REQUEST_BYTES_EACH / body.length);
    const answers: Promise<Answer>[] = [];
    let last: Answer | undefined;
    // A body is in hand until its run is stored, which waits for this.
    await weir.db.transaction().execute(async (tx) => {
      await tx.selectFrom('project').select('id').where('id', '=', hostile.projectId).forUpdate().execute();
      for (let index = 0; index < fitting; index += 1) answers.push(post(flow, hostile, 'jobs', body));
      await lockWaiters(weir.db, fitting);
      const waiting = post(flow, hostile, 'jobs', body);
      answers.push(waiting);
      void waiting.then((answer) => {
        last = answer;
      });
      assert.equal((await post(other, innocent, 'jobs', body)).status, 202);
      assert.deepEqual([await countLockWaiters(weir.db), last], [fitting, undefined]);
    });
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    assert.deepEqual(statuses, Array(fitting + 1).fill(202));
  });

  const body = [passthrough('each')];
  const list = code('list', `return Array(2).fill({ text: "${'x'.repeat(100_000)}" });`);
  const loop = { type: 'loop', step_id: 'loop', name: 'loop', max_iterations: 2, body } as const;
  const until = { pointer: '/0/none', equals: 1 };
  const cases: [string, Step[], string][] = [
    ['a passthrough', [passthrough('a')], LARGE],
    ['a code block', [code('a', 'return input.length;')], LARGE],
    ['a loop over an array', [list, loop], 'm'],
    ['the condition of a loop', [{ ...loop, body: [list], until }], 'm'],
  ];
  for (const [name, steps, message] of cases)
    it(`have a run with the input of ${name} rescheduled, which goes on`, async () => {
      const flow = await createFlow(hostile, steps);
      const permit = await weir.gates.inputs.acquire(hostile.organizationId, { weight: ACTIVITY_BYTES_EACH });
      const { executionId } = (await post(flow, hostile, 'jobs', message)).body;
      await untilRescheduled(weir, executionId);
      // Neither what is small nor another's waits.
      const [small, other] = [await createFlow(hostile), await createFlow(innocent)];
      assert.equal((await post(small, hostile, 'execute', 'm')).body.status, 'completed');
      assert.equal((await post(other, innocent, 'execute', LARGE)).body.status, 'completed');
      assert.equal((await get(flow, hostile, executionId)).body.status, 'started');
      permit.release();
      const { body } = await weir.finish(flow, executionId, hostile.key);
      assert.equal(body.status, 'completed', body.errorMessage);
    });

  for (const [name, suffix] of [
    ['results', ''],
    ['cursors', '/fork?step=1'],
  ])
    it(`wait as ${name} over its share, while another’s are read`, async () => {
      const steps = [passthrough('a'), passthrough('b')];
      const run = async (tenant: Tenant) => {
        const flow = await createFlow(tenant, steps);
        const { executionId } = (await post(flow, tenant, 'execute', LARGE)).body;
        return () => get(flow, tenant, `${executionId}${suffix}`);
      };
      const [read, readOther] = [await run(hostile), await run(innocent)];
      const permit = await weir.httpGates.answers.acquire(hostile.organizationId, {
        weight: REQUEST_BYTES_EACH,
      });
      let answer: Answer | undefined;
      const reading = read().then((read) => {
        answer = read;
        return read.status;
      });
      assert.equal((await readOther()).status, 200);
      assert.equal(answer, undefined);
      permit.release();
      assert.equal(await reading, 200);
    });
});
