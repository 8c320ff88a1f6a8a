// Checks what must be true after a case of cases.yaml, by the fields of `right`.
import assert from 'node:assert/strict';
import registry from '../../platform/models/models.json' with { type: 'json' };
import type { Body, Played } from './play-case.ts';
import type { Case } from './read-cases.ts';
import { partsOf } from './rules.ts';

type Check = (played: Played, one: Case) => unknown;

/** The price of anthropic/claude-sonnet-4-5, in USD for a million tokens, as its provider publishes it. */
const SONNET = { input: 3, cacheRead: 0.3, cacheWrite: 3.75, output: 15 };

/** Checks by field and words. */
const SENTENCES: { [sentence: string]: Check } = {
  'pause: toolCallMessages[1].reasoning_content equals what the provider sent':
    equalsSent('reasoning_content'),
  'pause: toolCallMessages[1].reasoning equals what the provider sent': equalsSent('reasoning'),
  async 'trace: the thinking is in the trace and not in the output'(played) {
    const { output, ...trace } = await played.readTrace();
    assert.equal(output, 'Oslo');
    assert.match(JSON.stringify(trace), /Capital of Norway/);
  },
  async 'trace: cached tokens: 9000'(played) {
    assert.ok(numbersIn(await played.readTrace()).has(9_000));
  },
  async 'trace: all four counts'(played) {
    const counts = numbersIn(await played.readTrace());
    for (const count of [50 + 9_000 + 1_000, 9_000, 1_000, 100]) assert.ok(counts.has(count), String(count));
  },
  'sent: stream is false, explicitly': ({ calls }) => assert.equal(calls[0]?.body.stream, false),
  'sent: no text part that is empty'({ calls }) {
    const texts = partsOf(calls[0]?.body.messages as Body[]).map(({ text }) => text);
    assert.ok(!texts.includes(''), JSON.stringify(texts));
  },
  'errorMessage: contains "llama-9 does not exist"': ({ last }) =>
    assert.match(last.errorMessage, /llama-9 does not exist/),
  'errorMessage: says that the account has no quota': ({ last }) => assert.match(last.errorMessage, /quota/),
  async 'cost: 50 input + 9,000 cache read + 1,000 cache write + 100 output tokens, each at its own price'(
    played,
  ) {
    const { input, cacheRead, cacheWrite, output } = SONNET;
    const microUsd = 50 * input + 9_000 * cacheRead + 1_000 * cacheWrite + 100 * output;
    equalCredits((await played.readRun()).cost, microUsd);
  },
  'toolCalls: arguments is {}': ({ last }) => assert.equal(last.toolCalls[0].function.arguments, '{}'),
  async 'sent_back: {}'({ last, calls, resume }) {
    await resume(last, 'pong');
    const turns = calls.at(-1)?.body.messages as Body[];
    assert.equal(turns[1].tool_calls[0].function.arguments, '{}');
  },
  async 'then: the same resume once more completes with sunny; it is not a replayed failure'({ resend }) {
    const { status, result, errorMessage } = await resend();
    assert.deepEqual([status, result], ['completed', 'sunny'], errorMessage);
  },
};

/** Checks by field, for every value that is no sentence above. They are made first, in this order. */
const FIELDS: { [field: string]: (expected: Body, ...rest: Parameters<Check>) => unknown } = {
  async status(expected: string, played, { right }) {
    // By repetition, or by sending the same resume once more.
    if (/by sending the same resume once more/.test(right.note) && played.last.status === 'failed')
      await played.resend();
    assert.ok(expected.split(' or ').includes(played.last.status), JSON.stringify(played.last));
  },
  result: (expected, { last }) => assert.deepEqual(last.result, expected),
  requests: (expected: number, { calls }) => assert.equal(calls.length, expected),
  async second_run_requests(expected: number, played) {
    assert.equal(await played.runAgain(), expected);
    assert.equal(played.last.status, 'completed');
  },
  async cost(expected: number | string, played, { block }) {
    const { cost } = await played.readRun();
    if (typeof expected === 'number') return assert.equal(cost, expected);
    const [, input, output] = /^that of (\d+) input and (\d+) output tokens$/.exec(expected) ?? [];
    const { price } = registry[(block as { model: 'google/gemini-2.5-flash' }).model];
    return equalCredits(cost, Number(input) * price.input + Number(output) * price.output);
  },
  /** Read by the check of the status. */
  note: () => undefined,
};

/** Checks all of `right`. Throws for what it cannot check. */
export async function checkRight(played: Played, one: Case): Promise<void> {
  const rest = { ...one.right };
  for (const [field, check] of Object.entries(FIELDS)) {
    if (!(field in rest) || `${field}: ${rest[field]}` in SENTENCES) continue;
    await check(rest[field], played, one);
    delete rest[field];
  }
  for (const [field, words] of Object.entries(rest)) {
    const check = SENTENCES[`${field}: ${words}`];
    assert.ok(check, `No check is known for ${field}: ${words}`);
    await check(played, one);
  }
}

function equalsSent(field: string): Check {
  return ({ answers }, { provider }) =>
    assert.equal(answers[0]?.body.toolCallMessages[1][field], provider?.[0]?.answer[field]);
}

/** Compares a cost in credits with a price in millionths of a USD, which is rounded up to whole microcredits. */
function equalCredits(credits: number, microUsd: number): void {
  const microcredits = Math.ceil(Math.round(microUsd * 1e8) / 1e6);
  assert.equal(credits, microcredits / 1e6);
}

/** Collects the numbers of a JSON value. */
function numbersIn(value: unknown, found = new Set<number>()): Set<number> {
  if (typeof value === 'number') found.add(value);
  else if (typeof value === 'object' && value !== null)
    for (const each of Object.values(value)) numbersIn(each, found);
  return found;
}
