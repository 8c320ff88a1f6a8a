// Nobody keeps the turn at large work while a request waits for the object store, or for DNS that a caller has chosen.
import assert from 'node:assert/strict';
import type { ApiDeps } from '../../../api/deps.ts';
import { acceptRun } from '../../../api/runs/calls/accept-run.ts';
import { acceptStep } from '../../../api/runs/calls/accept-step.ts';
import type { CallRequest } from '../../../api/runs/calls/call-request.ts';
import { createLargeValues } from '../../../platform/large-values/large-values.ts';
import { LARGE_BYTES, type LargeWork } from '../../../platform/limits/large-work.ts';
import { takeTurnToLeave } from '../../../platform/limits/turn-to-leave.ts';
import { createTurns } from '../../../platform/limits/turns.ts';
import type { ObjectStore } from '../../../platform/object-store/object-store.ts';
import { code, llm } from '../../blocks.ts';
import { answer, callTools } from '../../fakes/model-server.ts';
import type { Answer } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';
import { createStepClient, only } from './step-client.ts';
import { asking, type Body, resumeOf, toolCall, useToolCalls } from './tool-calls-harness.ts';

const LARGE = 'x'.repeat(LARGE_BYTES);

/** Counts the turns at large work that are held. */
function watchTurns(work: LargeWork) {
  const turns = { held: 0, taken: 0 };
  const { take } = work;
  work.take = async (owner, bytes, options) => {
    const end = await take(owner, bytes, options);
    if (bytes < LARGE_BYTES) return end;
    turns.held += 1;
    turns.taken += 1;
    let ended = false;
    return () => {
      if (!ended) turns.held -= 1;
      ended = true;
      end();
    };
  };
  return turns;
}

/** Has a store keep its objects in memory; it answers nothing after `silence`, until `restore`. */
function keepInMemory(store: ObjectStore) {
  const kept = new Map<string, Buffer>();
  let silent: PromiseWithResolvers<void> | undefined;
  const state = {
    asked: 0,
    silence() {
      state.asked = 0;
      silent = Promise.withResolvers();
    },
    restore: () => silent?.resolve(),
  };
  store.minBytes = LARGE_BYTES;
  store.put = async ({ location }, bytes) => void kept.set(location, Buffer.from(bytes));
  store.get = async ({ location }) => {
    state.asked += 1;
    await silent?.promise;
    return kept.get(location) as Buffer;
  };
  return state;
}

describe('while the object store is silent', () => {
  const h = useToolCalls({
    env: {
      WEIR_OBJECT_STORE: 's3://bucket',
      WEIR_OBJECT_STORE_ENDPOINT: 'http://127.0.0.1:9',
      AWS_REGION: 'here',
      AWS_ACCESS_KEY_ID: 'id',
      AWS_SECRET_ACCESS_KEY: 'secret',
    },
  });
  let store: ReturnType<typeof keepInMemory>;
  let turns: ReturnType<typeof watchTurns>;
  before(() => {
    store = keepInMemory(h.weir.db.objects as ObjectStore);
    turns = watchTurns(h.weir.largeValues.work);
  });

  /** Sends a request that needs an object; asserts that it holds no turn meanwhile, and one when it goes on. */
  async function leavesTurn<T>(send: () => Promise<T>): Promise<T> {
    store.silence();
    const before = turns.taken;
    const answered = send();
    answered.catch(() => undefined);
    await Promise.race([waitUntil(() => store.asked > 0), answered]);
    assert(store.asked > 0, JSON.stringify(await Promise.race([answered, 'it asked'])).slice(0, 500));
    assert.equal(turns.held, 0);
    store.restore();
    const answer = await answered;
    assert(turns.taken > before);
    await waitUntil(() => turns.held === 0);
    return answer;
  }
  const lengthOf = ({ body }: Answer) => body.result?.length ?? body.length;

  it('the result of a job, the values of its blocks, its request and a fork leave their turns', async () => {
    const flow = await h.weir.createFlow(h.tenant, [
      code('a', 'return message;'),
      code('b', 'return input;'),
    ]);
    const { executionId } = (await h.execute(flow, { message: LARGE, tools: undefined })).body;
    const read = (suffix: string) => leavesTurn(() => h.read(flow, executionId, suffix));
    assert.equal(lengthOf(await read('')), LARGE.length);
    const values = '/blocks/b';
    for (const value of ['input', 'output'])
      assert.equal(lengthOf(await read(`${values}/${value}`)), LARGE.length);
    assert.equal((await read('/request?full=true')).body.message.length, LARGE.length);
    assert.equal((await read('/fork?step=1')).body.accumulatedOutputs.a.length, LARGE.length);
  });

  it('a resume of /execute leaves its turn, and so does the pause of a job', async () => {
    const flow = await h.weir.createFlow(h.tenant, [asking('ask', 'Paris?')]);
    h.models.will(callTools([toolCall('c1')]), answer('done'));
    const paused: Body = await h.pause(flow, { message: LARGE });
    const { body: polled } = await leavesTurn(() => h.read(flow, paused.executionId));
    assert.equal(polled.pausedAtStep, 'ask');
    const { body } = await leavesTurn(() => h.execute(flow, resumeOf(paused)));
    assert.equal(body.result, 'done', JSON.stringify(body).slice(0, 500));
  });

  it('a later call of a session leaves its turn', async () => {
    const client = await createStepClient(h.weir, h.tenant);
    const flow = await h.weir.createFlow(h.tenant, [code('a', 'return 1;'), code('b', 'return 2;')]);
    const first = { stepIndex: 0, message: 'm', parameters: { LARGE } };
    const { executionId } = only(await client.step(flow, first), 'run_started');
    const call = { executionId, stepIndex: 1, accumulatedOutputs: { a: 1 } };
    const events = await leavesTurn(() => client.step(flow, call));
    assert.equal(only(events, 'block_completed').output, 2);
  });
});

describe('while hosts of the caller are looked up', () => {
  const url = 'https://silent.example/cat.png';
  const attachments = [{ kind: 'url', url, mime_type: 'image/png' }];
  const largeValues = createLargeValues();
  after(() => largeValues.close());
  const definition = { steps: [llm('ask', '{{message}}', 'demo/chat')] };

  /** Accepts a request in a turn; asserts that others have the turn while its host is looked up, and it has one again. */
  async function leavesTurn(
    accept: (deps: ApiDeps, request: CallRequest<never>) => Promise<unknown>,
    body: object,
  ): Promise<void> {
    const turns = createTurns({ places: 1, reserve: 0 });
    const { leave, end } = await takeTurnToLeave(() => turns.wait('a'));
    const asked = Promise.withResolvers<void>();
    const found = Promise.withResolvers<{ problem: 'unresolved'; message: string }>();
    const resolvePublic = () => {
      asked.resolve();
      return found.promise;
    };
    const validator = { of: () => undefined };
    const deps = { validator, config: {}, db: {}, largeValues, resolvePublic } as unknown as ApiDeps;
    const flow = { organizationId: 'a', definition };
    const request = { flow, body, endLargeWork: end, leaveLargeWork: leave } as unknown;
    const accepted = accept(deps, request as CallRequest<never>);
    accepted.catch(() => undefined);
    await Promise.race([asked.promise, accepted]);
    const endOther = turns.takeNow('b');
    assert(endOther);
    found.resolve({ problem: 'unresolved', message: 'nobody has it' });
    endOther();
    await assert.rejects(accepted, /nobody has it/);
    assert.equal(turns.countUnderWay('a'), 1);
  }

  it('a run leaves its turn for its attachments, and a job for its callback', async () => {
    await leavesTurn((deps, request) => acceptRun(deps, request, 'execute'), { message: 'm', attachments });
    const job = { message: 'm', callbackUrl: url };
    await leavesTurn((deps, request) => acceptRun(deps, request, 'jobs'), job);
  });

  it('a session leaves its turn for its attachments', async () => {
    await leavesTurn((deps, request) => acceptStep(deps, request), {
      ...{ stepIndex: 0, message: 'm', attachments },
    });
  });
});
