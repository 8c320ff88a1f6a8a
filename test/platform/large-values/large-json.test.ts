import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { OUTPUT_MAX_BYTES } from '../../../flow/limits.ts';
import { readCode } from '../../../platform/javascript/read-code.ts';
import {
  createLargeJson,
  LARGE_JSON_BYTES,
  type LargeJson,
} from '../../../platform/large-values/large-json.ts';
import { TASKS } from '../../../platform/large-values/tasks.ts';
import { countThreads } from '../../count-threads.ts';

const LONG = 'x'.repeat(LARGE_JSON_BYTES);

/** Each rule holds in the thread and where the caller runs. */
for (const [place, largeBytes] of [
  ['in the thread', 0],
  ['at once', Number.POSITIVE_INFINITY],
] as const)
  describe(`JSON texts read ${place}`, () => {
    let largeJson: LargeJson;
    before(() => {
      largeJson = createLargeJson({ largeBytes });
    });
    after(() => largeJson.close());

    it('are measured: too many values, and the bytes and values of one member', async () => {
      const json = `{"a":[${'0,'.repeat(500_000)}0],"b":"b"}`;
      assert.deepEqual(await largeJson.measure('o', Buffer.from(json), { member: 'b' }), {
        values: 500_001,
        keys: 1,
        excess: 'holds more than 500000 values',
        member: { bytes: 3, excess: undefined },
      });
      assert.match(
        (await largeJson.measure('o', Buffer.from(json), { member: 'a' })).member?.excess ?? '',
        /500000/,
      );
      assert.equal((await largeJson.measure('o', Buffer.from(json), { member: 'c' })).member, undefined);
      assert.equal((await largeJson.measure('o', Buffer.from('{"a":0}'), {})).excess, undefined);
    });

    it('are refused when they are not JSON', async () => {
      await assert.rejects(largeJson.check('o', Buffer.from('{"a":'), {}), SyntaxError);
      await assert.rejects(largeJson.readCompletion('o', Buffer.from('<html>'), {}), SyntaxError);
      assert.deepEqual(await largeJson.check('o', Buffer.from('{"a":0}'), {}), { values: 1, keys: 1 });
    });

    it('give the long text of a model’s answer as JSON, and the rest without what nobody reads', async () => {
      const content = `${LONG}"\u0000\u{1F600}\uD800`;
      const choice = { message: { content, tool_calls: [] }, finish_reason: 'stop' };
      const usage = { prompt_tokens: 1, completion_tokens: 2 };
      const json = Buffer.from(JSON.stringify({ id: 'i', choices: [choice, choice], usage }));
      const taken = await largeJson.readCompletion('o', json, {});
      assert.equal(Buffer.from(taken.content ?? []).toString(), JSON.stringify(content));
      const left = { message: { content: '', tool_calls: [] }, finish_reason: 'stop' };
      assert.equal(JSON.stringify(taken.answer), JSON.stringify({ id: 'i', choices: [left], usage }));
      assert.deepEqual(taken.said, { reasoning: '', refusal: '' });
      const text = await largeJson.readCompletion('o', json, { asText: true });
      assert.equal(JSON.stringify(text.answer), JSON.stringify({ id: 'i', choices: [choice], usage }));
      assert.deepEqual(text.said, { text: content, reasoning: '', refusal: '' });
    });

    it('give only the length of a text that no output may have', async () => {
      const content = 'x'.repeat(OUTPUT_MAX_BYTES + 1);
      const json = Buffer.from(JSON.stringify({ choices: [{ message: { content } }] }));
      const { answer, ...rest } = await largeJson.readCompletion('o', json, {});
      assert.equal(rest.tooLong, OUTPUT_MAX_BYTES + 1);
      assert.equal(rest.content, undefined);
      assert.equal(JSON.stringify(answer), '{"choices":[{"message":{"content":""}}]}');
    });

    for (const answer of [null, 1, 'text', [], {}, { choices: [] }, { choices: 1 }, { choices: [null] }])
      it(`are a model's answer of any shape: ${JSON.stringify(answer)}`, async () => {
        const read = await largeJson.readCompletion('o', Buffer.from(JSON.stringify(answer)), {});
        const { choices } = (answer ?? {}) as { choices?: unknown };
        assert.deepEqual((read.answer as { choices?: unknown } | null)?.choices, choices);
      });

    it('are read one after the other', async () => {
      const ended = await Promise.all(
        Array.from({ length: 20 }, (_, index) => largeJson.check(`o${index}`, Buffer.from(`[${index}]`), {})),
      );
      assert.equal(ended.length, 20);
    });
  });

describe('the thread for large JSON texts', () => {
  it('is shared fairly: one organization with many texts delays another by one text', async () => {
    const largeJson = createLargeJson({ largeBytes: 0 });
    const ended: string[] = [];
    const read = async (owner: string) => {
      await largeJson.check(owner, Buffer.from('[]'), {});
      ended.push(owner);
    };
    await Promise.all(['a', 'a', 'a', 'b'].map(read));
    assert.deepEqual(ended, ['a', 'b', 'a', 'a']);
    await largeJson.close();
  });

  it('reads code of any length, as it is read where the caller runs', async () => {
    const largeJson = createLargeJson();
    const sources = [
      'return outputs.a',
      'return (1 + );',
      'outputs.a\n}',
      `outputs.a;${'['.repeat(200_000)}`,
    ];
    for (const source of sources)
      assert.deepEqual(await largeJson.readCode('o', Buffer.from(source), {}), readCode(source));
    await largeJson.close();
  });

  it('fails nothing when it cannot do the work, or was ended', async () => {
    const largeJson = createLargeJson({ largeBytes: 0 });
    // An answer that is nested too deeply to be passed on.
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const json = Buffer.from(`{"choices":[${deep}]}`);
    const { answer } = await largeJson.readCompletion('o', json, {});
    assert.ok(Array.isArray((answer as { choices: unknown[] }).choices[0]));
    const running = largeJson.check('o', Buffer.from(`[${'0,'.repeat(400_000)}0]`), {});
    await largeJson.close();
    assert.deepEqual(await running, { values: 400_001, keys: 0 });
    assert.deepEqual(await largeJson.check('o', Buffer.from('[]'), {}), { values: 1, keys: 0 });
  });

  it('fails nothing when it does not start', async () => {
    const largeJson = createLargeJson({ largeBytes: 0, program: '/nowhere/thread.ts' });
    for (let again = 0; again < 2; again += 1)
      assert.deepEqual(await largeJson.check('o', Buffer.from('[]'), {}), { values: 1, keys: 0 });
    await largeJson.close();
  });

  it('ends when nothing was to be read for a while, and not before', async () => {
    const read = async (idleMaxMs?: number) => {
      const largeJson = createLargeJson({ largeBytes: 0, idleMaxMs });
      for (let texts = 0; texts < 3; texts += 1) {
        await largeJson.check('o', Buffer.from('[]'), {});
        await setTimeout(20);
      }
      await largeJson.close();
    };
    assert.equal(await countThreads(() => read(1)), 3);
    assert.equal(await countThreads(read), 1);
  });

  it('forgets who no longer waits', async () => {
    const largeJson = createLargeJson({ largeBytes: 0 });
    const first = largeJson.check('a', Buffer.from('[]'), {});
    const gone = new AbortController();
    const second = largeJson.check('b', Buffer.from('[]'), { signal: gone.signal });
    gone.abort(new Error('gone'));
    await assert.rejects(second, { message: 'gone' });
    await first;
    await largeJson.close();
  });
});

describe('arguments of a tool call that are an object', () => {
  it('become their JSON text when a number would lose digits', () => {
    const written = '{"id":9007199254740993,"list":[-12345678901234567890,1.5,"x"]}';
    const answer = `{"choices":[{"message":{"content":"9007199254740993","tool_calls":[{"function":{"name":"a","arguments":${written}}}]}}]}`;
    const read = TASKS.readCompletion(Buffer.from(answer), {}).answer as { choices: [{ message: object }] };
    assert.deepEqual(read.choices[0].message, {
      content: '9007199254740993',
      tool_calls: [{ function: { name: 'a', arguments: written } }],
    });
  });
});
