import assert from 'node:assert/strict';
import { requireState, signState } from '../../../../api/runs/calls/resume-state.ts';
import { answer, callTools } from '../../../fakes/model-server.ts';
import { type Body, detail, resumeOf, TWO_ASKING, toolCall, useToolCalls } from '../tool-calls-harness.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const PEPPER = 'p'.repeat(32);
const STATE = {
  executionId: 'e',
  flowVersionId: 'v',
  step_id: 's',
  iterations: 1,
  messages: [{ role: 'assistant' as const, content: 'm', tool_calls: [] }],
  outputs: { a: 'o' },
};
const BROUGHT = { ...STATE, outputs: [STATE.outputs] };

describe('resumeState', () => {
  const h = useToolCalls();
  let flow: string;
  before(async () => {
    flow = await h.weir.createFlow(h.tenant, TWO_ASKING);
  });
  const echo = (paused: Body) => ({ ...resumeOf(paused), resumeState: paused.resumeState });
  const refuse = async (resume: Body) => detail(await h.execute(flow, resume), 400, 'INVALID_RESUME').message;

  it('is accepted when echoed, at each pause of a run', async () => {
    const paused = await h.pauseWithTwo(flow);
    h.models.will(callTools([toolCall('d')]), answer('ok'), callTools([toolCall('e')]), answer('end'));
    let { body } = await h.execute(flow, echo(paused));
    ({ body } = await h.execute(flow, echo(body)));
    assert.equal(body.pausedAtStep, 'other');
    ({ body } = await h.execute(flow, echo(body)));
    assert.equal(body.result, 'end');
  });

  it('is accepted from a caller that sends keys in another order', async () => {
    const paused = await h.pauseWithTwo(flow);
    const turned = (json: Body): Body => {
      if (Array.isArray(json)) return json.map(turned);
      if (json === null || typeof json !== 'object') return json;
      return Object.fromEntries(
        Object.entries(json)
          .reverse()
          .map(([key, value]) => [key, turned(value)]),
      );
    };
    h.models.will(answer('ok'), answer('end'));
    assert.equal((await h.execute(flow, turned(echo(paused)))).body.result, 'end');
  });

  const tampering: [string, (resume: Body) => void, RegExp][] = [
    ['an output', (resume) => (resume.accumulatedOutputs.a = 'changed'), /outputs differ/],
    ['the outputs left out', (resume) => delete resume.accumulatedOutputs, /outputs differ/],
    ['the prompt', (resume) => (resume.toolCallMessages[0].content = 'changed'), /messages differ/],
    [
      'the arguments of a call',
      (resume) => (resume.toolCallMessages[1].tool_calls[0].function.arguments = '{}'),
      /messages differ/,
    ],
    ['what the model said', (resume) => (resume.toolCallMessages[1].content = 'changed'), /messages differ/],
    ['the beginning cut off', (resume) => resume.toolCallMessages.shift(), /messages differ/],
    [
      'a message put in',
      (resume) => resume.toolCallMessages.unshift({ role: 'user', content: 'first' }),
      /messages differ/,
    ],
  ];
  for (const [rule, tamper, message] of tampering)
    it(`refuses what was changed: ${rule}`, async () => {
      const paused = await h.pauseWithTwo(flow);
      const resume = echo(structuredClone(paused));
      tamper(resume);
      assert.match(await refuse(resume), message);
      await h.stillWaits(flow, paused);
    });

  it('does not take the place of the other checks', async () => {
    const paused = await h.pauseWithTwo(flow);
    const resume = echo(paused);
    const claimed = { ...resume, iterationsUsed: 25 };
    detail(await h.execute(flow, claimed), 409, 'TOOL_ITERATION_LIMIT');
    detail(await h.execute(flow, { ...resume, pausedAtStep: 'other' }), 400, 'EXECUTION_ID_INVALID');
    const short = { ...resume, toolCallMessages: resume.toolCallMessages.slice(0, -1) };
    detail(await h.execute(flow, short), 400, 'TOOL_RESULTS_MISMATCH');
    await h.stillWaits(flow, paused);
  });

  it('is good for one pause of one run', async () => {
    const paused = await h.pauseWithTwo(flow);
    const other = await h.pauseWithTwo(flow);
    assert.match(await refuse({ ...echo(paused), resumeState: other.resumeState }), /executionId differ/);
    h.models.will(callTools([toolCall('c1'), toolCall('c2')]));
    const { body } = await h.execute(flow, echo(paused));
    assert.match(
      await refuse({ ...echo(body), resumeState: paused.resumeState }),
      /iterations, messages differ/,
    );
    await h.stillWaits(flow, body);
  });

  it('is refused when it is not what was sent, whatever it is', async () => {
    const paused = await h.pauseWithTwo(flow);
    const [header, payload, mac] = paused.resumeState.split('.');
    const encode = (json: object) => Buffer.from(JSON.stringify(json)).toString('base64url');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const forged = encode({ ...claims, exp: 9e9 });
    const unsigned = encode({ alg: 'none' });
    for (const resumeState of [
      '',
      '.',
      'x',
      payload,
      `${header}.${payload}`,
      `${header}.${payload}.`,
      `..${mac}`,
      `${header}.${forged}.${mac}`,
      `${unsigned}.${payload}.`,
      `${unsigned}.${payload}.${mac}`,
      `${header}.${payload}.${mac}x`,
      `${header}.${payload}.${'é'.repeat(mac.length)}`,
      `${header}.${payload}.${'A'.repeat(mac.length)}`,
      `${header}.${payload}.${mac}.more`,
      'x'.repeat(4096),
      '\0',
    ])
      assert.match(await refuse({ ...echo(paused), resumeState }), /not issued by this service/);
    for (const resumeState of ['x'.repeat(4097), 5, {}, []])
      detail(await h.execute(flow, { ...echo(paused), resumeState }), 422, 'VALIDATION_ERROR');
    await h.stillWaits(flow, paused);
  });

  it('is refused when it was not issued for a resume that was accepted before', async () => {
    const paused = await h.pauseWithTwo(flow);
    const other = await h.pauseWithTwo(flow);
    h.models.will(callTools([toolCall('d')]));
    const first = await h.execute(flow, echo(paused));
    assert.equal(first.body.status, 'tool_calls_required');
    const again = await h.execute(flow, echo(paused));
    assert.deepEqual([again.body, again.headers.get('idempotent-replayed')], [first.body, 'true']);
    const [header, payload, mac] = paused.resumeState.split('.');
    for (const [resumeState, message] of [
      ['x', /not issued/],
      [`${header}.${payload}.${'A'.repeat(mac.length)}`, /not issued/],
      [other.resumeState, /executionId differ/],
    ] as const) {
      const refused = await h.execute(flow, { ...echo(paused), resumeState });
      assert.match(detail(refused, 400, 'INVALID_RESUME').message, message);
      assert.equal(refused.headers.get('idempotent-replayed'), null);
    }
    const { resumeState, ...without } = echo(paused);
    assert.deepEqual((await h.execute(flow, without)).body, first.body);
  });

  it('expires after 7 days', async () => {
    const signed = (age: number) => signState(PEPPER, STATE, new Date(Date.now() - age));
    await requireState(PEPPER, await signed(7 * DAY_MS - 60_000), BROUGHT);
    const old = await signed(7 * DAY_MS + 1_000);
    await assert.rejects(requireState(PEPPER, old, BROUGHT), /older than 7 days/);
    await requireState(PEPPER, old, BROUGHT, { isRepeated: true });
  });

  it('is refused under another pepper', async () => {
    const token = await signState(PEPPER, STATE, new Date());
    await assert.rejects(requireState('q'.repeat(32), token, BROUGHT), { code: 'INVALID_RESUME' });
  });
});
