// Organizations share the sandbox's processes: nobody's code waits for another's (activities/code/sandbox.ts).
import assert from 'node:assert/strict';
import { getPriority } from 'node:os';
import { workerShutdown } from '../../../activities/attempts/worker-shutdown.ts';
import { createSandbox, type Sandbox } from '../../../activities/code/sandbox.ts';
import { createLargeJson, LARGE_JSON_BYTES } from '../../../platform/large-values/large-json.ts';
import { waitUntil } from '../../wait-until.ts';
import { call, watchGuests } from './guests.ts';
import { runInTurn } from './run-in-turn.ts';

const ENDLESS = 'for (;;);';

describe('code of several organizations', () => {
  let sandbox: Sandbox;
  let ending: AbortController;
  let guests: () => number[];
  beforeEach(() => {
    if (process.platform === 'linux') guests = watchGuests();
    sandbox = createSandbox({ processes: 2, reserve: 2, largeJson: createLargeJson() });
    ending = new AbortController();
  });
  afterEach(async () => {
    ending.abort(new Error('the test is over'));
    await sandbox.close();
  });

  /** Calls that never end; resolves when `running` of them run, the others wait. */
  async function occupy(organization: string, calls: number, running: number): Promise<void> {
    const begun: Promise<unknown>[] = [];
    for (let made = 0; made < calls; made += 1) {
      const turn = sandbox.wait(organization, ending.signal);
      turn.then((mine) => mine.run(call(ENDLESS), ending.signal).finally(mine.end)).catch(() => undefined);
      if (made < running) begun.push(turn);
    }
    await Promise.all(begun);
  }

  it('runs beside the endless loops of another, however many of these wait', async () => {
    await occupy('hostile', 50, 2);
    assert.equal((await runInTurn(sandbox, call('return 7'), { organization: 'innocent' })).output, 7);
    assert.equal(await sandbox.waitBriefly('hostile'), undefined);
  });

  it('runs in turns where all processes are taken by others: each of these has one, and waits', async () => {
    await occupy('first', 10, 2);
    await occupy('second', 10, 1);
    await occupy('third', 10, 1);
    assert.equal(await sandbox.waitBriefly('innocent'), undefined);
    const waiting = runInTurn(sandbox, call('return 7'), { organization: 'innocent' });
    ending.abort(new Error('one ends'));
    assert.equal((await waiting).output, 7);
  });

  it('has as much processor time as its limit says, however long others hold the processors', async () => {
    const loops = Array.from({ length: 3 }, (_, n) => occupy(`hostile-${n}`, 1, 1));
    await Promise.all(loops);
    let used = 0;
    const turn = await sandbox.wait('innocent');
    await assert.rejects(
      turn.run(call(ENDLESS, 300), undefined, (ms) => {
        used = ms;
      }),
      { code: 'CODE_TIMEOUT' },
    );
    turn.end();
    // By the clock it would have been stopped with a part of this: more loops run than there are processors.
    assert(used >= 300, `${used} ms of processor time`);
  });

  it('tells what it took, also where its process had to be killed', async () => {
    const native = 'return [].indexOf.call({ length: 2 ** 53 - 1 }, 1)';
    const turn = await sandbox.wait('organization');
    let used = 0;
    const onUsed = (ms: number) => {
      used = ms;
    };
    await assert.rejects(turn.run(call(native, 200), undefined, onUsed), { code: 'CODE_TIMEOUT' });
    assert.equal(used, 200);
    await turn.run(call('for (let i = 0; i < 1e5; i++); return 1'), undefined, onUsed);
    assert(used > 0 && used !== 200, `${used} ms`);
    turn.end();
  });

  it('gives back who waits when the worker ends, and lets what runs go on', async () => {
    const turns = [await sandbox.wait('a'), await sandbox.wait('a')];
    const waiting = assert.rejects(sandbox.wait('a'), { type: 'WORKER_SHUTDOWN' });
    sandbox.drain(workerShutdown('it stops'));
    await waiting;
    assert.equal((await turns[0]?.run(call('return 1')))?.output, 1);
  });

  describe('with large results that wait to be read', () => {
    let silent: Sandbox;
    let asked: number;
    beforeEach(() => {
      asked = 0;
      const read = (): Promise<never> => {
        asked += 1;
        return new Promise(() => undefined);
      };
      const largeJson = { ...createLargeJson(), check: read };
      silent = createSandbox({ processes: 1, reserve: 0, largeJson });
    });
    afterEach(() => silent.close());

    /** Runs code with a result of so many bytes, up to when that waits. */
    async function answerWith(bytes: number, organization: string): Promise<void> {
      const before = asked;
      const turn = await silent.wait(organization);
      turn.run(call(`return 'x'.repeat(${bytes})`)).catch(() => undefined);
      await waitUntil(() => asked > before);
    }

    it('has its processes free for other code', async () => {
      await answerWith(LARGE_JSON_BYTES, 'a');
      const turn = await silent.waitBriefly('b');
      assert.equal((await turn?.run(call('return 7')))?.output, 7);
    });

    it('keeps its turns beyond the memory for these results', async () => {
      for (let n = 0; n < 3; n += 1) await answerWith(7 * 1024 * 1024, 'a');
      assert.equal(await silent.waitBriefly('b'), undefined);
    });
  });

  it('runs at a lower priority once it takes long (on Linux)', async function () {
    if (process.platform !== 'linux') this.skip();
    const priorities = () => guests().map((pid) => getPriority(pid));
    await occupy('hostile', 1, 1);
    await waitUntil(() => priorities().some((priority) => priority > getPriority()));
  });
});
