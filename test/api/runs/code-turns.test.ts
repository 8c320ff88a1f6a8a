// Code blocks that find no process are rescheduled, and hold nothing up (activities/attempts/run-attempt.ts).
import assert from 'node:assert/strict';
import type { Step } from '../../../flow/definition.ts';
import { code, passthrough } from '../../blocks.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';
import { untilRescheduled } from '../../until-rescheduled.ts';

const LOOPS = 8;
const ENDLESS: Step[] = [code('loop', 'for (;;);', { name: 'Spin' })];

describe('code blocks of one organization, more than it has processes', () => {
  let weir: Weir;
  let hostile: Tenant;
  let innocent: Tenant;
  let flow: string;
  before(async () => {
    weir = await startWeir({ env: { WEIR_SANDBOX_PROCESSES: '1', WEIR_SANDBOX_RESERVE: '1' } });
    [hostile, innocent] = [await weir.createTenant(), await weir.createTenant()];
    flow = await weir.createFlow(hostile, ENDLESS);
  });
  after(() => weir.stop());

  const start = async () =>
    (await weir.call('POST', `${flow}/jobs`, { key: hostile.key, body: { message: 'm' } })).body.executionId;
  const cancel = (executionId: string) =>
    weir.call('POST', `${flow}/jobs/${executionId}/cancel`, { key: hostile.key });
  const statusOf = async (executionId: string) =>
    (await weir.call('GET', `${flow}/jobs/${executionId}`, { key: hostile.key })).body.status;
  const execute = async (tenant: Tenant, steps: Step[]) => {
    const path = await weir.createFlow(tenant, steps);
    return (await weir.call('POST', `${path}/execute`, { key: tenant.key, body: { message: 'm' } })).body;
  };
  const waits = (executionId: string) => untilRescheduled(weir, executionId);

  it('are rescheduled on timers: runs of others go on, with code and without', async () => {
    const loops = await Promise.all(Array.from({ length: LOOPS }, start));
    // One of them has the process.
    const waiting = await Promise.any(
      loops.map(async (executionId) => ({ executionId, rescheduled: await waits(executionId) })),
    );
    for (const steps of [
      [passthrough('a')],
      [code('b', 'return 7;')],
      [passthrough('c'), code('d', 'return 7;')],
    ])
      assert.equal((await execute(innocent, steps)).status, 'completed');
    for (const loop of loops) assert.equal(await statusOf(loop), 'started', 'a loop has ended meanwhile');

    await cancel(waiting.executionId);
    const cancelled = await weir.finish(flow, waiting.executionId, hostile.key);
    assert.match(cancelled.body.errorMessage, /cancelled/);
    await Promise.all(loops.map(cancel));
    for (const executionId of loops) await weir.finish(flow, executionId, hostile.key);
    assert.equal((await execute(hostile, [code('after', 'return 8;')])).result, 8);
  });

  it('go to another worker when theirs ends while they wait', async () => {
    // Longer than a block waits in its workflow task.
    const source = 'const end = Date.now() + 4_000; while (Date.now() < end); return 9;';
    const steps = [code('spin', source)];
    const path = await weir.createFlow(hostile, steps);
    const runs = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const { body } = await weir.call('POST', `${path}/jobs`, {
          key: hostile.key,
          body: { message: 'm' },
        });
        return body.executionId as string;
      }),
    );
    await Promise.any(runs.map(waits));
    await weir.stopWorker();
    await weir.startWorker();
    for (const executionId of runs)
      assert.equal((await weir.finish(path, executionId, hostile.key)).body.result, 9);
  });

  it('are run one after the other, and complete', async () => {
    const steps: Step[] = [
      {
        type: 'parallel',
        step_id: 'p',
        name: 'p',
        branches: Object.fromEntries(
          Array.from({ length: LOOPS }, (_, n) => [
            `b${n}`,
            [
              code(
                `c${n}`,
                'const from = Date.now(); for (let i = 0; i < 3e6; i++); return [from, Date.now()];',
              ),
            ],
          ]),
        ),
      },
    ];
    const { status, result, errorMessage } = await execute(innocent, steps);
    assert.equal(status, 'completed', errorMessage);
    const turns = (Object.values(result) as [number, number][]).sort(([a], [b]) => a - b);
    assert.equal(turns.length, LOOPS);
    for (const [index, [from]] of turns.slice(1).entries())
      assert.ok(from >= (turns[index]?.[1] ?? Infinity), `two at once: ${JSON.stringify(turns)}`);
  });
});
