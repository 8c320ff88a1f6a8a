import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { code, llm, passthrough } from '../../blocks.ts';
import { answer, hang, respond } from '../../fakes/model-server.ts';
import { readEvents, type SseEvent } from '../../sse.ts';
import { ask, CALL, credits, MODEL, spend, useCredits } from './credits-harness.ts';

const CHEAP = { prompt_tokens: 1, completion_tokens: 1 };

describe('credits', () => {
  const harness = useCredits();

  describe('of the organization', () => {
    it('end a run as credits_exhausted at the call that they do not cover, which is not made', async () => {
      await harness.pay(1.5);
      harness.models.will(spend);
      const body = await harness.execute([ask('first'), passthrough('keep'), ask('second')]);
      assert.deepEqual([body.status, body.failureReason], ['failed', 'credits_exhausted']);
      assert.match(body.errorMessage, /Block "second" \(second\): The organization has \S+ credits/);
      assert.equal(harness.models.calls.length, 1);
      assert.deepEqual(
        body.blocks.map((block: { key: string; status: string; usage: { cost: number } }) => [
          block.key,
          block.status,
          block.usage.cost,
        ]),
        [
          ['first', 'completed', credits(CALL)],
          ['keep', 'completed', 0],
          ['second', 'failed', 0],
        ],
      );
      const { balance, reserved } = await harness.account();
      assert.deepEqual([balance, reserved], [Math.round(CALL * 1.5) - CALL, 0]);
    });

    it('let 20 runs at once make the calls they cover and no more', async () => {
      await harness.pay(5);
      const flow = await harness.weir.createFlow(harness.tenant, [ask('ask')]);
      const asked = Array.from({ length: 5 }, () => Promise.withResolvers<ServerResponse>());
      harness.models.will(...asked.map(({ resolve }) => resolve));
      const jobs = await Promise.all(
        Array.from({ length: 20 }, () =>
          harness.weir.call('POST', `${flow}/jobs`, { key: harness.tenant.key, body: { message: '' } }),
        ),
      );
      const ends = jobs.map(({ body }) => harness.weir.finish(flow, body.executionId, harness.tenant.key));
      const held = await Promise.all(asked.map(({ promise }) => promise));
      for (const { body } of await firstOf(15, ends))
        assert.deepEqual([body.status, body.failureReason], ['failed', 'credits_exhausted']);
      assert.equal((await harness.account()).reserved, 5 * CALL);
      for (const response of held) spend(response);
      const ended = await Promise.all(ends);
      assert.equal(ended.filter(({ body }) => body.status === 'completed').length, 5);
      assert.equal(harness.models.calls.length, 5);
      const { balance, reserved, charges } = await harness.account();
      assert.deepEqual([balance, reserved, charges.size], [0, 0, 5]);
      const refused = await harness.weir.call('POST', `${flow}/execute`, {
        key: harness.tenant.key,
        body: { message: '' },
      });
      assert.deepEqual([refused.status, refused.body.detail.code], [402, 'INSUFFICIENT_CREDITS']);
    });

    it('that parallel calls of a run reserve are waited for by the others, and all calls are made', async () => {
      await harness.pay(1.5);
      harness.models.will(...['a', 'b', 'c'].map((text) => answer(text, { usage: CHEAP })));
      const branches = { a: [ask('a')], b: [ask('b')], c: [ask('c')] };
      const body = await harness.execute([{ type: 'parallel', step_id: 'p', name: 'p', branches }]);
      assert.deepEqual([body.status, body.cost], ['completed', credits(3 * (100 + 200))]);
      const { reserved, charges } = await harness.account();
      assert.deepEqual([reserved, charges.size], [0, 3]);
    });

    it('are reserved while the model is asked, and released when the run is cancelled', async () => {
      await harness.pay(2);
      const flow = await harness.weir.createFlow(harness.tenant, [ask('ask')]);
      harness.models.will(hang);
      const asked = harness.models.nextCall();
      const { body } = await harness.weir.call('POST', `${flow}/jobs`, {
        key: harness.tenant.key,
        body: { message: '' },
      });
      const closed = once(await asked, 'close');
      assert.equal((await harness.account()).reserved, CALL);
      await harness.weir.call('POST', `${flow}/jobs/${body.executionId}/cancel`, { key: harness.tenant.key });
      await closed;
      await harness.released();
      assert.deepEqual((await harness.account()).balance, 2 * CALL);
    });

    it('are not reserved while a provider that is away is waited for', async () => {
      await harness.pay(1);
      const flow = await harness.weir.createFlow(harness.tenant, [ask('ask')]);
      harness.models.will((response) => response.writeHead(503, { 'retry-after': '60' }).end());
      const asked = harness.models.nextCall();
      const { body } = await harness.weir.call('POST', `${flow}/jobs`, {
        key: harness.tenant.key,
        body: { message: '' },
      });
      await asked;
      await harness.released();
      const path = `${flow}/jobs/${body.executionId}`;
      assert.equal(
        (await harness.weir.call('GET', path, { key: harness.tenant.key })).body.status,
        'started',
      );
      await harness.weir.call('POST', `${path}/cancel`, { key: harness.tenant.key });
    });
  });

  describe('of answers that end in a failure', () => {
    const schema = { outputSchema: { type: 'object', required: ['a'] } };
    const cost = 10 * 100 + 5 * 200;
    for (const [name, answers, step] of [
      ['MODEL_REFUSED', [answer(null, { refusal: 'I will not.' })], {}],
      ['MODEL_OUTPUT_INCOMPLETE, cut off', [answer('Once', { finish_reason: 'length' })], {}],
      ['MODEL_OUTPUT_INVALID, also after a repair', [answer('no'), answer('no')], schema],
      ['MODEL_REFUSED in the repair', [answer('no'), answer(null, { refusal: 'No.' })], schema],
    ] as const)
      it(`are charged once and traced: ${name}`, async () => {
        await harness.pay(1_000);
        harness.models.will(...answers);
        const body = await harness.execute([llm('ask', 'x', MODEL, step)]);
        assert.deepEqual([body.status, body.failureReason], ['failed', 'error']);
        const [block] = body.blocks;
        const { model, status, usage } = block;
        assert.deepEqual([status, model], ['failed', MODEL]);
        const expected = answers.length * cost;
        assert.deepEqual(
          [usage.promptTokens, usage.completionTokens],
          [answers.length * 10, answers.length * 5],
        );
        assert.deepEqual([usage.cost, body.cost], [credits(expected), credits(expected)]);
        const { balance, charges } = await harness.account();
        assert.equal(balance, 1_000 * CALL - expected);
        assert.deepEqual([...charges.values()], [expected]);
        const workflow = harness.weir.client.workflow.getHandle(body.executionId);
        await workflow.result().catch(() => undefined);
        const { events } = await workflow.fetchHistory();
        const failures = events?.flatMap(
          ({ activityTaskFailedEventAttributes: failed, markerRecordedEventAttributes: marker }) =>
            (failed ?? marker)?.failure?.applicationFailureInfo ?? [],
        );
        // The engine is told the code and the message, and no more.
        assert.deepEqual(
          failures?.map(({ details }) => details),
          [null],
        );
      });
  });

  describe('of a provider that ignores how much it may answer', () => {
    for (const [name, usage, [promptTokens, completionTokens], calls, more] of [
      [
        'maxCredits',
        { prompt_tokens: 10, completion_tokens: 50_000 },
        [10, 50_000],
        1,
        { maxCredits: credits(CALL) },
      ],
      ['the balance', { prompt_tokens: 10, completion_tokens: 50_000 }, [10, 50_000], 3, {}],
      ['any context', { prompt_tokens: 1e7, completion_tokens: 1e7 }, [1e7, 1e7], 3, {}],
    ] as const)
      it(`are charged as far as they go, and the receipt says what the operator bears: more than ${name}`, async () => {
        await harness.pay(3);
        harness.models.will(answer('long', { usage }));
        const body = await harness.execute([ask('ask')], more);
        const cost = credits(calls * CALL);
        assert.deepEqual([body.status, body.cost], ['completed', cost]);
        const uncharged = credits(promptTokens * 100 + completionTokens * 200 - calls * CALL);
        const { ms: _, ...used } = body.blocks[0].usage;
        assert.partialDeepStrictEqual(used, { promptTokens, completionTokens, cost, uncharged });
        const { balance, charges } = await harness.account();
        assert.deepEqual([balance, ...charges.values()], [(3 - calls) * CALL, calls * CALL]);
        assert.equal(harness.models.calls.length, 1);
      });

    it('are charged what the answer has cost, though more than was reserved', async () => {
      await harness.pay(100);
      harness.models.will(answer('long', { usage: { prompt_tokens: 10, completion_tokens: 100 } }));
      const body = await harness.execute([ask('ask')]);
      assert.deepEqual(
        [body.cost, body.blocks[0].usage.uncharged],
        [credits(10 * 100 + 100 * 200), undefined],
      );
      assert(body.cost > credits(CALL));
    });
  });

  describe('of answers that are none', () => {
    it('are charged once, and the model is not asked again', async () => {
      await harness.pay(1_000);
      harness.models.will(
        respond(200, {
          choices: [{ message: { content: 7 } }],
          usage: { prompt_tokens: 10, completion_tokens: 5 },
        }),
      );
      const body = await harness.execute([llm('ask', 'x', MODEL)]);
      assert.match(body.errorMessage, /can't be used: it is not a chat completion/);
      assert.deepEqual([body.cost, harness.models.calls.length], [credits(10 * 100 + 5 * 200), 1]);
    });
  });

  it('are not touched by a model whose name no column holds', async () => {
    await harness.pay(1);
    const flow = await harness.weir.createFlow(harness.tenant, [ask('ask')]);
    const send = (model: string) =>
      harness.weir.call('POST', `${flow}/execute`, {
        key: harness.tenant.key,
        body: { message: '', block_overrides: { ask: { model } } },
      });
    const { status, body } = await send('demo/a\0b');
    assert.deepEqual([status, body.detail.errors?.[0]?.field], [422, 'block_overrides.ask.model']);
    const control = await send('demo/a\u0007b');
    assert.deepEqual([control.status, control.body.status], [200, 'failed']);
    assert.match(control.body.errorMessage, /is not a known model/);
    assert.equal(harness.models.calls.length, 0);
  });

  describe('on the receipt', () => {
    it('of /execute, a repeated /execute, GET …/jobs and the last event are the same', async () => {
      await harness.pay(100);
      harness.models.will(spend);
      const flow = await harness.weir.createFlow(harness.tenant, [ask('a'), code('bad', 'throw 1')]);
      const send = () =>
        harness.weir.call('POST', `${flow}/execute`, {
          key: harness.tenant.key,
          body: { message: '', maxCredits: 1 },
          headers: { 'idempotency-key': 'k' },
        });
      const { body } = await send();
      assert.deepEqual([body.status, body.cost, body.blocks.length], ['failed', credits(CALL), 2]);
      assert.deepEqual((await send()).body, body);
      const job = await harness.weir.call('GET', `${flow}/jobs/${body.executionId}`, {
        key: harness.tenant.key,
      });
      const events: SseEvent[] = [];
      const stream = await fetch(`${harness.weir.url}/api/v1/seq/${flow}/jobs/${body.executionId}/events`, {
        headers: { authorization: `Bearer ${harness.tenant.key}` },
      });
      for await (const event of readEvents(stream)) events.push(event);
      const last = events.at(-1);
      assert.equal(last?.event, 'run_failed');
      for (const { cost, blocks } of [job.body, last?.data])
        assert.deepEqual({ cost, blocks }, { cost: body.cost, blocks: body.blocks });
    });
  });
});

/** Resolves to the first `count` values, when so many promises are fulfilled. */
function firstOf<T>(count: number, promises: Promise<T>[]): Promise<T[]> {
  return new Promise((resolve, reject) => {
    const values: T[] = [];
    for (const promise of promises)
      promise.then((value) => {
        values.push(value);
        if (values.length === count) resolve(values);
      }, reject);
  });
}
