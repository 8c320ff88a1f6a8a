import assert from 'node:assert/strict';
import fc from 'fast-check';
import { BODY_MAX_BYTES } from '../../../api/http/receive-body.ts';
import type { Json } from '../../../flow/definition.ts';
import { code, llm, passthrough } from '../../blocks.ts';
import { propertyRuns } from '../../full-size.ts';
import type { Tenant, Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { createStepClient, names, only, type StepClient } from './step-client.ts';

const REFUSALS = [400, 404, 409, 413, 415, 422];
const RUNS = 150;

describe('bodies of POST …/step', () => {
  let weir: Weir;
  let tenant: Tenant;
  let client: StepClient;
  let flow: string;
  let executionId: string;
  before(async () => {
    weir = await getSharedWeir();
    tenant = await weir.createTenant();
    client = await createStepClient(weir, tenant);
    flow = await weir.createFlow(tenant, [
      passthrough('a'),
      code('b', 'return input;'),
      llm('ask', 'x', 'demo/chat', { processor_config: { tools_enabled: true } }),
    ]);
    executionId = only(await client.step(flow, { stepIndex: 0, message: 'm' }), 'run_started').executionId;
  });
  after(async () => {
    await weir.stop();
  });

  const post = (raw: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
    fetch(`${weir.url}/api/v1/seq/${flow}/step`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json', ...headers },
      body: raw,
    });
  /** A stream that ends as one should, or a refusal that is documented. */
  async function requireSound(response: Response, sent: string): Promise<void> {
    if (response.status === 200) {
      const events = [];
      for await (const event of client.read(response)) events.push(event);
      assert.match(names(events).at(-1) ?? '', /^(step_paused|run_completed|run_failed)$/, sent);
      return;
    }
    const { detail } = (await response.json()) as { detail: { code: string; message: string } };
    assert(REFUSALS.includes(response.status), `${response.status} ${JSON.stringify(detail)} for ${sent}`);
    assert(detail.code && detail.message, sent);
  }

  it('of 8 MiB are taken, one byte more is 413 BODY_TOO_LARGE', async () => {
    const call = { executionId, stepIndex: 1, accumulatedOutputs: { a: 'in', ask: '' } };
    const fill = (bytes: number) => {
      const ask = 'x'.repeat(bytes - JSON.stringify(call).length);
      return { ...call, accumulatedOutputs: { a: 'in', ask } };
    };
    assert.equal(only(await client.step(flow, fill(BODY_MAX_BYTES)), 'block_completed').output, 'in');
    const response = await client.open(flow, fill(BODY_MAX_BYTES + 1));
    const { detail } = (await response.json()) as { detail: { code: string } };
    assert.deepEqual([response.status, detail.code], [413, 'BODY_TOO_LARGE']);
  });

  for (const value of [
    '\0',
    '\ud800',
    '\u2028\n\ndata: x\r\nevent: run_completed',
    '__proto__',
    { '': { '\0': [null] } },
    { data: 'id: 1\n\n' },
    null,
    [],
    1e308,
    '😀'.repeat(1000),
  ] as Json[])
    it(`carry ${JSON.stringify(value).slice(0, 50)} through a step unchanged`, async () => {
      const call = { executionId, stepIndex: 1, accumulatedOutputs: { a: value } };
      assert.deepEqual(only(await client.step(flow, call), 'block_completed').output, value);
    });

  const hostile: [string, string | Uint8Array<ArrayBuffer>, Record<string, string>?][] = [
    ['nothing', ''],
    ['no JSON', '{"stepIndex": 0,'],
    ['null', 'null'],
    ['an array', '[]'],
    ['a number', '0'],
    ['invalid UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d])],
    ['a key __proto__', '{"stepIndex":0,"message":"","accumulatedOutputs":{"__proto__":1}}'],
    ['a key constructor', '{"stepIndex":0,"message":"","blockOverrides":{"constructor":{}}}'],
    ['deep nesting', `{"stepIndex":0,"message":"","parameters":${'['.repeat(5000)}${']'.repeat(5000)}}`],
    ['a number beyond JSON', '{"stepIndex":1e400}'],
    ['a huge integer', '{"stepIndex":99999999999999999999}'],
    ['a form', 'stepIndex=0', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['a compressed body', '{}', { 'content-encoding': 'gzip' }],
    ['an unknown field', '{"stepIndex":0,"message":"","step":1}'],
    [
      'many overrides',
      JSON.stringify({
        stepIndex: 0,
        blockOverrides: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`s${i}`, { x: i }])),
      }),
    ],
    [
      'a stepId of a megabyte',
      JSON.stringify({ stepIndex: 0, message: '', accumulatedOutputs: { ['s'.repeat(1e6)]: 1 } }),
    ],
  ];
  for (const [what, raw, headers] of hostile)
    it(`are refused when they are ${what}`, async () => {
      const response = await post(raw, headers);
      assert.notEqual(response.status, 200);
      await requireSound(response, what);
    });

  it('of any kind get a stream or a documented refusal', async () => {
    const odd = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom<unknown>('', '\0', '\ud800', -1, 2 ** 31, 1.5, {}, [], [null], { a: null }, true),
    );
    const mutate = <T>(sound: T) =>
      fc.oneof({ weight: 4, arbitrary: fc.constant(sound) }, { weight: 1, arbitrary: odd });
    const call = { id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } };
    const message = fc.oneof(
      odd,
      fc.record({ role: mutate('user'), content: mutate('x') }, { requiredKeys: [] }),
      fc.record({ role: mutate('assistant'), tool_calls: mutate([call]) }, { requiredKeys: [] }),
      fc.record(
        { role: mutate('tool'), tool_call_id: mutate('c'), content: mutate('x') },
        { requiredKeys: [] },
      ),
    );
    const body = fc.record(
      {
        executionId: mutate<string | null>(executionId),
        stepIndex: fc.oneof({ weight: 4, arbitrary: fc.nat(2) }, { weight: 1, arbitrary: odd }),
        accumulatedOutputs: mutate({ a: 1, b: 2 }),
        message: mutate('m'),
        parameters: mutate({ p: 1 }),
        attachments: mutate([]),
        inputOverrides: mutate({ a: 2 }),
        blockOverrides: mutate({ a: { outputSchema: true } }),
        runRemaining: mutate(false),
        tools: mutate([{ type: 'function', function: { name: 'look' } }]),
        toolChoice: mutate('auto'),
        toolCallMessages: fc.oneof(odd, fc.array(message, { maxLength: 3 })),
        iterationsUsed: mutate(1),
        resumeState: mutate('x.y'),
        version: odd,
      },
      { requiredKeys: ['stepIndex', 'accumulatedOutputs'] },
    );
    await fc.assert(
      fc.asyncProperty(body, async (sent) => {
        const raw = JSON.stringify(sent);
        await requireSound(await post(raw), raw);
      }),
      { numRuns: propertyRuns(RUNS) },
    );
  });
});
