// Organizations share the sandbox's processes: nobody's code waits for another's (platform/limits/gates.ts).
import assert from 'node:assert/strict';
import { getPriority } from 'node:os';
import { createSandbox, type Sandbox } from '../../../activities/code/sandbox.ts';
import { createLargeJson } from '../../../platform/large-values/large-json.ts';
import type { FairQueue } from '../../../platform/limits/fair-queue.ts';
import { createActivityGates } from '../../../platform/limits/gates.ts';
import { waitUntil } from '../../wait-until.ts';
import { call, watchGuests } from './guests.ts';

const ENDLESS = 'for (;;);';

describe('code of several organizations', () => {
  let sandbox: Sandbox;
  let gate: FairQueue;
  let ending: AbortController;
  let guests: () => number[];
  beforeEach(() => {
    if (process.platform === 'linux') guests = watchGuests();
    sandbox = createSandbox({ processes: 4, largeJson: createLargeJson() });
    const given = { sandboxProcesses: 2, sandboxReserve: 2, modelConcurrency: 1, providers: {} };
    gate = createActivityGates(given).sandbox;
    ending = new AbortController();
  });
  afterEach(async () => {
    ending.abort(new Error('the test is over'));
    await sandbox.close();
  });

  async function run(organization: string, source: string, signal?: AbortSignal): Promise<unknown> {
    using _permit = await gate.acquire(organization, { signal });
    return (await sandbox.run(organization, call(source), signal)).output;
  }

  /** Calls that never end; resolves when `running` of them run, the others wait. */
  async function occupy(organization: string, calls: number, running: number): Promise<void> {
    const before = gate.count().inFlight;
    for (let made = 0; made < calls; made += 1)
      run(organization, ENDLESS, ending.signal).catch(() => undefined);
    await waitUntil(() => gate.count().inFlight === before + running);
  }

  it('runs beside the endless loops of another, however many of these wait', async () => {
    await occupy('hostile', 50, 2);
    assert.equal(await run('innocent', 'return 7'), 7);
    assert.equal(gate.tryAcquire('hostile'), undefined);
  });

  it('runs next where all processes are taken by others: each of these has one, and waits', async () => {
    await occupy('first', 10, 2);
    await occupy('second', 10, 1);
    await occupy('third', 10, 1);
    assert.equal(gate.tryAcquire('innocent'), undefined);
    const waiting = run('innocent', 'return 7');
    ending.abort(new Error('one ends'));
    assert.equal(await waiting, 7);
  });

  it('has as much processor time as its limit says, however long others hold the processors', async () => {
    for (let n = 0; n < 3; n += 1)
      sandbox.run(`hostile-${n}`, call(ENDLESS), ending.signal).catch(() => undefined);
    let used = 0;
    await assert.rejects(
      sandbox.run('innocent', call(ENDLESS, 300), undefined, (ms) => {
        used = ms;
      }),
      { code: 'CODE_TIMEOUT' },
    );
    // By the clock it would have been stopped with a part of this: more loops run than there are processors.
    assert(used >= 300, `${used} ms of processor time`);
  });

  it('reports what it took, also where its process had to be killed', async () => {
    const native = 'return [].indexOf.call({ length: 2 ** 53 - 1 }, 1)';
    let used = 0;
    const onUsed = (ms: number) => {
      used = ms;
    };
    await assert.rejects(sandbox.run('organization', call(native, 200), undefined, onUsed), {
      code: 'CODE_TIMEOUT',
    });
    assert.equal(used, 200);
    await sandbox.run('organization', call('for (let i = 0; i < 1e5; i++); return 1'), undefined, onUsed);
    assert(used > 0 && used !== 200, `${used} ms`);
  });

  it('runs at a lower priority once it takes long (on Linux)', async function () {
    if (process.platform !== 'linux') this.skip();
    const priorities = () => guests().map((pid) => getPriority(pid));
    await occupy('hostile', 1, 1);
    await waitUntil(() => priorities().some((priority) => priority > getPriority()));
  });
});
