// The header Prefer of /execute (docs/run-and-wait.md), and ?wait of jobs.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { jobRoutes } from '../../../api/runs/jobs.ts';
import { readPreferences } from '../../../api/runs/prefer.ts';
import { answer, callTools, hang } from '../../fakes/model-server.ts';
import {
  asking,
  type Body,
  detail,
  resumeOf,
  toolCall,
  useToolCalls,
  weather,
} from './tool-calls-harness.ts';

describe('Prefer', () => {
  describe('is read as RFC 7240 has it', () => {
    const async = (seconds: number) => ({
      waitMs: seconds * 1_000,
      applied: seconds ? `respond-async, wait=${seconds}` : 'respond-async',
    });
    const kept = { keepAlive: true, applied: 'keep-alive' };
    for (const [header, expected] of [
      ['', {}],
      ['respond-async', async(0)],
      ['Respond-Async , WAIT = 20', async(20)],
      ['wait="7";x=y, respond-async; foo="a, b"', async(7)],
      ['respond-async, wait=5, wait=9', async(5)],
      ['respond-async, wait=soon', async(0)],
      ['respond-async, wait=-1', async(0)],
      ['respond-async, keep-alive', async(0)],
      ['respond-async, wait=99999999999999999999', async(86_400)],
      ['wait=5', {}],
      ['keep-alive', kept],
      ['return=minimal,keep-alive', kept],
      ['note="x, respond-async", keep-alive', kept],
      ['note="a \\", respond-async, b", keep-alive', kept],
      ['"respond-async", keep-alive', kept],
      ['respond-asynchronously', {}],
    ] as const)
      it(`${header}`, () => assert.deepEqual(readPreferences({ get: () => header }), expected));
  });

  const h = useToolCalls();
  let flow: string;
  before(async () => {
    flow = await h.weir.createFlow(h.tenant, [asking('ask')]);
  });
  const finish = async (executionId: string) => (await h.weir.finish(flow, executionId, h.tenant.key)).body;
  const prefer = (preference: string, more: object = {}) => ({ headers: { prefer: preference, ...more } });
  const headersOf = ({ headers }: { headers: Headers }) => [
    headers.get('preference-applied'),
    headers.get('location'),
  ];
  const pathOf = (executionId: string) => `/api/v1/seq/${flow}/jobs/${executionId}`;

  it('respond-async: answers 202 at once, with the body of /jobs and the path of the run', async () => {
    h.models.will(hang);
    const asked = h.models.nextCall();
    const { status, body, headers } = await h.execute(flow, {}, prefer('respond-async'));
    const { executionId, flowId, ...rest } = body;
    assert.deepEqual([status, rest], [202, { status: 'started', blockCount: 1 }]);
    assert.deepEqual(headersOf({ headers }), ['respond-async', pathOf(executionId)]);
    answer('done')(await asked);
    const ended = await finish(executionId);
    assert.deepEqual([ended.status, ended.result, ended.flowId], ['completed', 'done', flowId]);
  });

  it('respond-async: answers the same to a repeated request, also when the run has ended', async () => {
    h.models.will(answer('done'));
    const sent = prefer('respond-async', { 'idempotency-key': 'async' });
    const first = await h.execute(flow, {}, sent);
    await finish(first.body.executionId);
    const again = await h.execute(flow, {}, sent);
    assert.deepEqual([again.status, again.body], [202, first.body]);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    const { body } = await h.execute(flow, {}, { headers: { 'idempotency-key': 'async' } });
    assert.equal(body.result, 'done');
  });

  it('respond-async: takes tools, whose pause is read and resumed', async () => {
    h.models.will(callTools([toolCall('c1')]), answer('done'));
    const { body } = await h.execute(flow, { tools: [weather] }, prefer('respond-async'));
    const paused = await finish(body.executionId);
    assert.equal(paused.status, 'tool_calls_required');
    const resumed = await h.execute(flow, resumeOf(paused), prefer('respond-async'));
    assert.deepEqual([resumed.status, resumed.body.executionId], [202, body.executionId]);
    assert.equal((await finish(body.executionId)).result, 'done');
  });

  it('respond-async with wait: answers 200 when the run ends in time', async () => {
    h.models.will(answer('done'));
    const answered = await h.execute(flow, {}, prefer('respond-async, wait=600'));
    assert.deepEqual([answered.status, answered.body.result], [200, 'done']);
    assert.deepEqual(headersOf(answered), ['respond-async, wait=600', null]);
  });

  it('respond-async with wait: answers 202 when it does not, and the run goes on', async () => {
    h.models.will(hang);
    const asked = h.models.nextCall();
    const { status, body, headers } = await h.execute(flow, {}, prefer('respond-async, wait=1'));
    assert.deepEqual([status, body.status], [202, 'started']);
    assert.deepEqual(headersOf({ headers }), ['respond-async, wait=1', pathOf(body.executionId)]);
    answer('done')(await asked);
    assert.equal((await finish(body.executionId)).result, 'done');
  });

  async function keepAlive(body: object): Promise<Response> {
    const { key } = h.tenant;
    return fetch(`${h.weir.url}/api/v1/seq/${flow}/execute`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', prefer: 'keep-alive' },
      body: JSON.stringify(body),
    });
  }

  it('keep-alive: sends white space before the run has ended, and then its answer', async () => {
    h.models.will(hang);
    const asked = h.models.nextCall();
    const response = await keepAlive({ message: 'm' });
    assert.deepEqual([response.status, response.headers.get('preference-applied')], [200, 'keep-alive']);
    const chunks = response.body?.values() as AsyncIterator<Uint8Array>;
    let text = Buffer.from((await chunks.next()).value).toString();
    assert.match(text, /^\s+$/);
    answer('done')(await asked);
    for (let chunk = await chunks.next(); !chunk.done; chunk = await chunks.next())
      text += Buffer.from(chunk.value).toString();
    const { status, result } = JSON.parse(text);
    assert.deepEqual([status, result], ['completed', 'done']);
  });

  it('keep-alive: brings a later error under the status 200', async () => {
    h.models.will(callTools([toolCall('c1')]), callTools([toolCall('c2')]));
    const paused = await h.pause(flow, {
      block_overrides: { ask: { processor_config: { max_tool_iterations: 1 } } },
    });
    const response = await keepAlive(resumeOf(paused));
    const { detail: error } = (await response.json()) as Body;
    assert.deepEqual(
      [response.status, error.code, error.executionId],
      [200, 'TOOL_ITERATION_LIMIT', paused.executionId],
    );
  });

  it('changes nothing about a request that is refused', async () => {
    for (const preference of ['respond-async', 'keep-alive']) {
      const refused = await h.execute(flow, { message: 7 }, prefer(preference));
      detail(refused, 422, 'VALIDATION_ERROR');
      assert.deepEqual(headersOf(refused), [null, null]);
    }
  });
});

describe('?wait=60 of a job', () => {
  it('is answered within 55 s', async () => {
    const waits: number[] = [];
    const wait = async (_run: unknown, ms: number) => {
      waits.push(ms);
      throw new Error('enough');
    };
    const openRequests = { follow: () => ({ release: () => undefined }) };
    const deps = { openRequests, config: { ownKeyProviders: {} } };
    const routes = jobRoutes(deps as never, { wait } as never);
    const handler = routes.at(-1)?.handlers.find(({ name }) => name === 'waitForEnd');
    const state = { query: { wait: 60 }, run: { status: 'started' }, flowIds: {} };
    await assert.rejects(
      async () => handler?.({ state, res: new EventEmitter() } as never, async () => {}),
      /enough/,
    );
    assert.ok(Number(waits[0]) < 55_000, `${waits}`);
  });
});
