import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { code } from '../../blocks.ts';
import { answer, callTools } from '../../fakes/model-server.ts';
import {
  asking,
  type Body,
  detail,
  resultsOf,
  resumeOf,
  TWO_ASKING,
  toolCall,
  useToolCalls,
  weather,
} from './tool-calls-harness.ts';

describe('errors of a resume', () => {
  const h = useToolCalls();
  let flow: string;
  before(async () => {
    flow = await h.weir.createFlow(h.tenant, TWO_ASKING);
  });

  describe('INVALID_RESUME', () => {
    const fields = ['executionId', 'pausedAtStep', 'toolCallMessages'];
    for (let mask = 1; mask < 7; mask++) {
      const sent = fields.filter((_, index) => mask & (1 << index));
      it(`answers 400 for ${sent.join(' and ')} alone, naming what is missing`, async () => {
        const resume: Body = {
          executionId: randomUUID(),
          pausedAtStep: 'ask',
          toolCallMessages: [{ role: 'user', content: '' }],
        };
        const body = Object.fromEntries(sent.map((field) => [field, resume[field]]));
        const refused = await h.weir.call('POST', `${flow}/execute`, { key: h.tenant.key, body });
        const { message } = detail(refused, 400, 'INVALID_RESUME');
        const [, missing] = message.split('Missing: ');
        const absent = fields.filter((field) => !sent.includes(field));
        assert.equal(missing, `${absent.join(', ')}.`);
      });
    }
  });

  it('answers INVALID_RESUME for an empty conversation alone, rather than what is wrong with it', async () => {
    const body = { message: 'm', toolCallMessages: [] };
    detail(await h.weir.call('POST', `${flow}/execute`, { key: h.tenant.key, body }), 400, 'INVALID_RESUME');
  });

  describe('PAUSED_STEP_INVALID', () => {
    for (const [rule, step] of [
      ['a step that does not exist', 'nowhere'],
      ['a step without tools_enabled', 'a'],
      ['an empty one', ''],
      ['a name of every object', 'toString'],
    ])
      it(`answers 400 with valid_steps for ${rule}`, async () => {
        const paused = await h.pauseWithTwo(flow);
        const refused = await h.execute(flow, { ...resumeOf(paused), pausedAtStep: step });
        assert.deepEqual(detail(refused, 400, 'PAUSED_STEP_INVALID').valid_steps, ['ask', 'other']);
        await h.stillWaits(flow, paused);
      });
  });

  it('answers TOOLS_NOT_ENABLED to a resume with tools at a version in which no block takes them', async () => {
    const own = await h.weir.createFlow(h.tenant, TWO_ASKING);
    const paused = await h.pauseWithTwo(own);
    await h.publish(own, [code('ask', 'return 1;')]);
    const resume = resumeOf(paused);
    detail(await h.execute(`${own}/v2`, resume), 422, 'TOOLS_NOT_ENABLED');
    detail(await h.execute(`${own}/v2`, { ...resume, tools: [] }), 400, 'PAUSED_STEP_INVALID');
    await h.stillWaits(own, paused);
  });

  describe('EXECUTION_ID_INVALID', () => {
    const UNKNOWN = /^There is no run /;
    const GONE_ON = /has gone on or ended/;
    const refuse = async (at: string, resume: Body) =>
      detail(await h.execute(at, resume), 400, 'EXECUTION_ID_INVALID');

    it('answers 400 for an id that is of no run, and for the run at another step', async () => {
      const paused = await h.pauseWithTwo(flow);
      for (const executionId of [randomUUID(), 'x', `${paused.executionId} `, `${paused.executionId}\0`])
        assert.match((await refuse(flow, { ...resumeOf(paused), executionId })).message, UNKNOWN);
      const { message } = await refuse(flow, { ...resumeOf(paused), pausedAtStep: 'other' });
      assert.match(message, /waits for tool results at the step ask:/);
      await h.stillWaits(flow, paused);
    });

    it('answers for a run of another project or flow what it answers for one that does not exist', async () => {
      const stranger = await h.weir.createTenant();
      const theirs = await h.weir.createFlow(stranger, [asking('ask')]);
      const mine = await h.weir.createFlow(h.tenant, [asking('ask')]);
      const paused = await h.pauseWithTwo(flow);
      const asked = h.models.calls.length;
      const unknown = await refuse(mine, { ...resumeOf(paused), executionId: randomUUID() });
      assert.deepEqual(await refuse(mine, resumeOf(paused)), unknown);
      const foreign = await h.weir.call('POST', `${theirs}/execute`, {
        key: stranger.key,
        body: resumeOf(paused),
      });
      assert.deepEqual(detail(foreign, 400, 'EXECUTION_ID_INVALID'), unknown);
      const trespass = await h.weir.call('POST', `${flow}/execute`, {
        key: stranger.key,
        body: resumeOf(paused),
      });
      detail(trespass, 404, 'FLOW_NOT_FOUND');
      assert.equal(h.models.calls.length, asked);
      await h.stillWaits(flow, paused);
    });

    it('answers 400 for a run that has ended, that never paused, of /jobs, and a session of /step', async () => {
      const paused = await h.pauseWithTwo(flow);
      await h.stillWaits(flow, paused);
      const resume = resumeOf(paused, [...resultsOf(paused)].reverse());
      assert.match((await refuse(flow, resume)).message, GONE_ON);
      const plain = await h.weir.createFlow(h.tenant, [code('c', 'return 1;'), asking('ask')]);
      h.models.will(answer('ok'), answer('ok'), callTools([toolCall('c1'), toolCall('c2')]));
      const ended = await h.execute(plain);
      const job = await h.weir.call('POST', `${plain}/jobs`, { key: h.tenant.key, body: { message: 'm' } });
      await h.weir.finish(plain, job.body.executionId, h.tenant.key);
      const stepped = await fetch(`${h.weir.url}/api/v1/seq/${plain}/step`, {
        method: 'POST',
        headers: { authorization: `Bearer ${h.tenant.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ stepIndex: 0, message: 'm', tools: [weather], runRemaining: true }),
      });
      const [, session] = /"executionId":"([^"]+)"/.exec(await stepped.text()) ?? [];
      for (const [executionId, words] of [
        [ended.body.executionId, GONE_ON],
        [job.body.executionId, UNKNOWN],
        [session, UNKNOWN],
      ]) {
        assert(executionId);
        assert.match((await refuse(plain, { ...resume, executionId })).message, words);
      }
    });

    it('answers 400 in other words for a run that has failed or was cancelled', async () => {
      const paused = await h.pauseWithTwo(flow);
      await h.weir.call('POST', `${flow}/jobs/${paused.executionId}/cancel`, { key: h.tenant.key });
      assert.match((await refuse(flow, resumeOf(paused))).message, /has failed or was cancelled/);
    });

    it('answers 400 for the id of a call that is not the run', async () => {
      const paused = await h.pauseWithTwo(flow);
      h.models.will(callTools([toolCall('c1'), toolCall('c2')]));
      const { body } = await h.execute(flow, resumeOf(paused));
      const { execution_id: executionId } = await h.weir.db
        .selectFrom('run')
        .select('execution_id')
        .where('continues', '=', paused.executionId)
        .executeTakeFirstOrThrow();
      await refuse(flow, { ...resumeOf(body), executionId });
    });
  });

  describe('TOOL_RESULTS_MISMATCH', () => {
    const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: '' });
    for (const [rule, ids] of [
      ['a missing result', ['c1']],
      ['a doubled one', ['c1', 'c2', 'c2']],
      ['one too many', ['c1', 'c2', 'c3']],
      ['an unknown one', ['c1', 'C2']],
      ['none', []],
    ] as const)
      it(`answers 400 with expected and received for ${rule}`, async () => {
        const paused = await h.pauseWithTwo(flow);
        const refused = await h.execute(flow, resumeOf(paused, ids.map(result)));
        const { expected, received } = detail(refused, 400, 'TOOL_RESULTS_MISMATCH');
        assert.deepEqual([expected, received], [['c1', 'c2'], ids]);
        await h.stillWaits(flow, paused);
      });

    it('answers 400 with the ids of the pause and of the results that came, whatever else of the conversation did', async () => {
      const paused = await h.pauseWithTwo(flow);
      const [user, asked] = paused.toolCallMessages;
      const results = [result('c1'), result('c2')];
      for (const [toolCallMessages, received] of [
        [[], []],
        [
          [user, ...results],
          ['c1', 'c2'],
        ],
        [
          [user, asked, ...results, { role: 'user', content: 'x' }],
          ['c1', 'c2'],
        ],
      ])
        for (const resumeState of [undefined, paused.resumeState]) {
          const refused = await h.execute(flow, { ...resumeOf(paused), toolCallMessages, resumeState });
          const answered = detail(refused, 400, 'TOOL_RESULTS_MISMATCH');
          assert.deepEqual([answered.expected, answered.received], [['c1', 'c2'], received]);
        }
      await h.stillWaits(flow, paused);
    });

    it('answers 400 when the calls are not those of the pause, whatever the caller made of them', async () => {
      const paused = await h.pauseWithTwo(flow);
      const [user, asked] = paused.toolCallMessages;
      const fewer = { ...asked, tool_calls: [toolCall('c1')] };
      for (const toolCallMessages of [
        [user, fewer, result('c1')],
        [user, { role: 'assistant', content: 'no calls' }],
        [user],
        [result('c1'), result('c2'), user, asked],
        [user, asked, result('c1'), result('c2'), { role: 'assistant', content: 'I am done' }],
      ])
        detail(
          await h.execute(flow, { ...resumeOf(paused), toolCallMessages }),
          400,
          'TOOL_RESULTS_MISMATCH',
        );
      await h.stillWaits(flow, paused);
    });
  });
});
