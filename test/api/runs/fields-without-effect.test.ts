import assert from 'node:assert/strict';
import { answer, callTools } from '../../fakes/model-server.ts';
import { createStepClient, only } from './step-client.ts';
import {
  asking,
  type Body,
  detail,
  resumeOf,
  toolCall,
  useToolCalls,
  weather,
} from './tool-calls-harness.ts';

const IMAGE = { kind: 'url', url: 'https://93.184.215.14/cat.png', mime_type: 'image/png' };

describe('fields without effect', () => {
  const h = useToolCalls();
  let flow: string;
  before(async () => {
    flow = await h.weir.createFlow(h.tenant, [asking('ask'), asking('next')]);
  });
  const post = (endpoint: string, body: object) =>
    h.weir.call('POST', `${flow}/${endpoint}`, { key: h.tenant.key, body });
  async function refused(endpoint: string, body: object, field: string) {
    const asked = h.models.calls.length;
    const { status, body: answered } = await post(endpoint, body);
    assert.deepEqual(
      [status, answered.detail?.code, answered.detail?.errors?.map((each: Body) => each.field)],
      [422, 'VALIDATION_ERROR', [field]],
      JSON.stringify(answered),
    );
    assert.equal(h.models.calls.length, asked);
  }
  const pause = async () => {
    h.models.will(callTools([toolCall('c1')]));
    return h.pause(flow);
  };

  for (const [field, value] of [
    ['parameters', { a: 1 }],
    ['attachments', [IMAGE]],
  ] as const)
    it(`are refused on a resume, unless the run was started with them: ${field}`, async () => {
      await refused('execute', { ...resumeOf(await pause()), [field]: value }, field);
    });

  for (const [field, value] of [
    ['iterationsUsed', 1],
    ['accumulatedOutputs', { a: 1 }],
    ['resumeState', 'x'],
    ['status', 'tool_calls_required'],
    ['blocks', [{}]],
    ['traceId', 'a'.repeat(32)],
  ] as const)
    it(`are refused on a fresh call: ${field}`, async () => {
      await refused('execute', { message: 'm', [field]: value }, field);
    });

  for (const [endpoint, body, errors] of [
    [
      'execute',
      { messages: 'm' },
      [
        ['messages', 'is not a known field: did you mean message?'],
        ['message', 'is required'],
      ],
    ],
    [
      'jobs',
      { massage: 'm' },
      [
        ['message', 'is required'],
        ['massage', 'is not a known field: did you mean message?'],
      ],
    ],
    [
      'step',
      { stepIndex: 0, text: 'm' },
      [
        ['text', 'is not a known field'],
        ['message', 'is required where stepIndex is 0'],
      ],
    ],
    [
      'execute',
      { message: 'm', tool_choice: 'none', max_credits: 1 },
      [
        ['tool_choice', 'is not a known field: did you mean toolChoice?'],
        ['max_credits', 'is not a known field: did you mean maxCredits?'],
      ],
    ],
  ] as const)
    it(`are named beside the fields that are missing: ${endpoint} with ${JSON.stringify(body)}`, async () => {
      const { status, body: answered } = await post(endpoint, body);
      const said = answered.detail?.errors?.map(({ field, message }: Body) => [field, message]);
      assert.deepEqual([status, said], [422, errors], JSON.stringify(answered));
    });

  it('are named in a resume that lacks a field', async () => {
    const { pausedAtStep, ...rest } = resumeOf(await pause());
    const answered = await post('execute', { ...rest, paused_at_step: pausedAtStep });
    const { message } = detail(answered, 400, 'INVALID_RESUME');
    assert.match(message, /Missing: pausedAtStep\. Not known: paused_at_step\.$/);
  });

  it('are refused in a session: other than what its first call set, and what only tool results use', async () => {
    const first = { stepIndex: 0, message: 'm' };
    await refused('step', { ...first, iterationsUsed: 1 }, 'iterationsUsed');
    await refused('step', { ...first, resumeState: 'x' }, 'resumeState');
    await refused('step', { ...first, pausedAtStep: 'ask' }, 'pausedAtStep');
    const client = await createStepClient(h.weir, h.tenant);
    h.models.will(answer('1'));
    const { executionId } = only(await client.step(flow, first), 'run_started');
    const later = { executionId, stepIndex: 1, accumulatedOutputs: { ask: '1' } };
    await refused('step', { ...later, parameters: { a: 1 } }, 'parameters');
    await refused('step', { ...later, attachments: [IMAGE] }, 'attachments');
  });

  const START = { message: 'm', parameters: { a: [1, { b: 'c' }] }, attachments: [IMAGE] };
  const again = { parameters: { a: [1, { b: 'c' }] }, attachments: [{ ...IMAGE, filename: 'cat.png' }] };

  it('do not include parameters and attachments that the run was started with, sent again: a resume', async () => {
    h.models.will(callTools([toolCall('c1')]), answer('1'), answer('2'));
    const paused = await h.pause(flow, START);
    const others = [{ ...IMAGE, url: `${IMAGE.url}?other` }];
    await refused('execute', { ...resumeOf(paused), ...again, attachments: others }, 'attachments');
    const { body } = await post('execute', { ...resumeOf(paused), ...again });
    assert.equal(body.result, '2', JSON.stringify(body));
  });

  it('do not include parameters and attachments that the run was started with, sent again: a later step', async () => {
    const client = await createStepClient(h.weir, h.tenant);
    h.models.will(answer('1'), answer('2'));
    const first = await client.step(flow, { ...START, stepIndex: 0 });
    const { executionId } = only(first, 'run_started');
    const next = { executionId, stepIndex: 1, accumulatedOutputs: { ask: '1' } };
    assert.equal(only(await client.step(flow, { ...next, ...again }), 'run_completed').result, '2');
  });

  it('are refused with their own code where no run could have been started with them: a resume, a later step', async () => {
    const client = await createStepClient(h.weir, h.tenant);
    h.models.will(answer('1'), callTools([toolCall('c1')]));
    const { executionId } = only(await client.step(flow, { stepIndex: 0, message: 'm' }), 'run_started');
    const next = { executionId, stepIndex: 1, accumulatedOutputs: { ask: '1' } };
    const resume = resumeOf(await h.pause(flow));
    for (const [fields, code] of [
      [{ parameters: { attachments: [IMAGE] } }, 'PARAMETER_NAME_RESERVED'],
      [{ attachments: Array(11).fill(IMAGE) }, 'ATTACHMENT_LIMIT_EXCEEDED'],
      [{ attachments: [{ ...IMAGE, url: 'http://93.184.215.14/cat.png' }] }, 'ATTACHMENT_INVALID_SCHEME'],
      [{ parameters: { a: 1 }, attachments: [{ ...IMAGE, filename: 'a/b' }] }, 'ATTACHMENT_INVALID_FILENAME'],
    ] as const)
      for (const [endpoint, body] of [
        ['execute', resume],
        ['step', next],
      ] as const)
        detail(await post(endpoint, { ...body, ...fields }), 400, code);
  });

  it('are left out when they say nothing: the iterationsUsed of a run that has not paused is 0', async () => {
    const client = await createStepClient(h.weir, h.tenant);
    h.models.will(answer('1'), answer('2'), answer('3'), answer('4'), answer('5'));
    const { body } = await post('execute', { message: 'm', iterationsUsed: 0, accumulatedOutputs: {} });
    assert.equal(body.status, 'completed', JSON.stringify(body));
    const job = await post('jobs', { message: 'm', iterationsUsed: 0, accumulatedOutputs: {} });
    assert.equal(job.status, 202, JSON.stringify(job.body));
    await h.weir.finish(flow, job.body.executionId, h.tenant.key);
    only(await client.step(flow, { stepIndex: 0, message: 'm', iterationsUsed: 0 }), 'block_completed');
  });

  it('are refused on /jobs: callbackEvents without callbackUrl, unless they are empty', async () => {
    await refused('jobs', { message: 'm', callbackEvents: ['flow.failed'] }, 'callbackEvents');
    h.models.will(answer('1'), answer('2'));
    const job = await post('jobs', { message: 'm', callbackEvents: [] });
    assert.equal(job.status, 202, JSON.stringify(job.body));
    await h.weir.finish(flow, job.body.executionId, h.tenant.key);
    const document = (await (await fetch(`${h.weir.url}/openapi.json`)).json()) as Body;
    const { type, minItems } = document.components.schemas.JobRequest.properties.callbackEvents;
    assert.deepEqual([type, minItems], ['array', undefined]);
  });

  it('are left out when they are empty: a client may send the request of its first call again', async () => {
    const paused = await pause();
    h.models.will(answer('1'), answer('2'));
    const resume = { ...resumeOf(paused), message: 'm', parameters: {}, attachments: [] };
    const { status, body } = await post('execute', resume);
    assert.deepEqual([status, body.status], [200, 'completed'], JSON.stringify(body));
  });

  it('do not include maxCredits of a resume, which holds for its call', async () => {
    const paused = await pause();
    const { body } = await post('execute', { ...resumeOf(paused), maxCredits: 0.000001 });
    assert.deepEqual([body.status, body.code], ['failed', 'MAX_CREDITS_REACHED']);
    assert.equal((await h.charges(paused.executionId)).length, 1);
  });

  it('do not include maxCredits of a later step, which holds for its call', async () => {
    const client = await createStepClient(h.weir, h.tenant);
    h.models.will(answer('1'));
    const { executionId } = only(await client.step(flow, { stepIndex: 0, message: 'm' }), 'run_started');
    const next = { executionId, stepIndex: 1, accumulatedOutputs: { ask: '1' } };
    const events = await client.step(flow, { ...next, maxCredits: 0.000001 });
    assert.equal(only(events, 'run_failed').code, 'MAX_CREDITS_REACHED');
    h.models.will(answer('2'));
    assert.equal(only(await client.step(flow, next), 'run_completed').result, '2');
  });
});

describe('null for an optional field of a request', () => {
  const h = useToolCalls();
  it('is the same as leaving it out: /execute, its resume, /jobs, in tools and overrides too', async () => {
    const flow = await h.weir.createFlow(h.tenant, [asking('ask')]);
    const post = (endpoint: string, body: object) =>
      h.weir.call('POST', `${flow}/${endpoint}`, { key: h.tenant.key, body });
    const nothing = { toolChoice: null, block_overrides: null, maxCredits: null, callbackUrl: null };
    h.models.will(callTools([toolCall('c1')]), answer('done'), answer('job'));
    const tool = { ...weather, function: { ...weather.function, description: null } };
    const { body: paused } = await post('execute', {
      ...nothing,
      message: 'm',
      parameters: null,
      attachments: null,
      tools: [tool],
      iterationsUsed: null,
      executionId: null,
      pausedAtStep: null,
      toolCallMessages: null,
    });
    assert.equal(paused.status, 'tool_calls_required', JSON.stringify(paused));
    const resume = {
      ...resumeOf(paused),
      ...nothing,
      parameters: null,
      iterationsUsed: null,
      resumeState: null,
    };
    const { body } = await post('execute', { ...resume, block_overrides: { ask: { model: null } } });
    assert.equal(body.result, 'done', JSON.stringify(body));
    const ofResume = { executionId: null, toolCallMessages: null, accumulatedOutputs: null };
    const job = await post('jobs', {
      ...nothing,
      ...ofResume,
      message: 'm',
      tools: null,
      callbackEvents: null,
    });
    assert.equal(job.status, 202, JSON.stringify(job.body));
    assert.equal((await h.weir.finish(flow, job.body.executionId, h.tenant.key)).body.result, 'job');
  });

  it('is refused for a required one', async () => {
    const flow = await h.weir.createFlow(h.tenant, []);
    const answered = await h.weir.call('POST', `${flow}/jobs`, {
      key: h.tenant.key,
      body: { message: null },
    });
    assert.equal(answered.status, 422);
  });
});
