// The hostile loads by which one organization tries to take the service from all others; one per row of the table.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json, JsonSchema, Step } from '../../flow/definition.ts';
import { code, llm, passthrough } from '../../test/blocks.ts';

type Surroundings = {
  apiUrl: string;
  organizationId: string;
  /** An API key of the organization. */
  key: string;
  /** The URL of a flow with the load's steps, to which `/execute` and the other endpoints are appended. */
  flowUrl: string;
  flowsUrl: string;
  /** A webhook receiver that accepts requests and never answers. */
  hangingHost: string;
};

/** `begin` resolves when the load has begun; the load continues until its process ends. */
export type HostileLoad = { name: string; steps: Step[]; begin(at: Surroundings): Promise<void> };
/** The message to the process of the callers. */
export type HostileCall = { name: string; at: Surroundings };

const MB = 1_000_000;
/** An output may have 4 MiB, a body and the answer of a model 8 MiB. */
const LARGE_OUTPUT_BYTES = 4 * MB;

export const HOSTILE_LOADS: HostileLoad[] = [
  {
    name: 'endless code of 5 s, 50 at a time',
    steps: endlessCode(5_000),
    begin: (at) => keepExecuting(at, 50),
  },
  {
    name: 'endless code of 30 s, 50 at a time',
    steps: endlessCode(30_000),
    begin: (at) => keepExecuting(at, 50),
  },
  {
    name: 'schemas of 2^59 steps, 50 at a time',
    steps: [schemaBlock()],
    begin: (at) => keepExecuting(at, 50),
  },
  {
    name: 'slow values for a schema, 20 at a time',
    steps: [uniqueItems()],
    begin: (at) => keepExecuting(at, 20),
  },
  {
    name: 'prompts of 40 × 8 MB, 12 at a time',
    steps: [llm('multiply', '{{message}}'.repeat(40), 'demo/chat')],
    begin: (at) => keepExecuting(at, 12, 'm'.repeat(8 * MB)),
  },
  {
    name: 'slow model calls, 200 at a time',
    steps: [llm('slow', 'Take a minute.', 'demo/slow-60000')],
    begin: (at) => keepExecuting(at, 200),
  },
  {
    name: 'prompts just under the bound, 200 slow calls at a time',
    // The context of demo models has room for 1,024,000 characters.
    steps: [llm('long', '{{message}}'.repeat(64), 'demo/slow-30000')],
    begin: (at) => keepExecuting(at, 200, 'm'.repeat(15_900)),
  },
  {
    name: 'model answers of 8 MB, 10 at a time',
    steps: [llm('large', 'Say much.', 'openrouter/large')],
    begin: (at) => keepExecuting(at, 10),
  },
  { name: 'results of 4 MB, eight pollers', steps: [largeOutput()], begin: pollLargeResults },
  {
    name: 'bodies of 8 MB of [],[], 8 at a time',
    steps: [passthrough('a')],
    async begin(at) {
      const body = `{"message":"m","parameters":{"a":[${'[],'.repeat(2_660_000)}[]]}}`;
      keepCalling(8, () => post(at, `${at.flowUrl}/execute`, body));
    },
  },
  {
    name: '600 jobs at once, again and again',
    steps: [passthrough('a'), code('b', 'return input;'), passthrough('c')],
    begin: floodJobs,
  },
  {
    name: '8 test runs of 40 cases, again and again',
    steps: [passthrough('a'), code('b', 'return input;'), passthrough('c')],
    begin: keepTesting,
  },
  { name: '20 streams of 4 MB that nobody reads', steps: [largeOutput()], begin: leaveStreamsUnread },
  {
    name: 'failed sign-ins, 64 at a time',
    steps: [],
    async begin(at) {
      const key = () =>
        `weir_live_${Math.random().toString(36).slice(2, 10).padEnd(8, '0')}_${'x'.repeat(32)}`;
      keepCalling(64, () => post({ key: key() }, `${at.flowUrl}/execute`, '{}'));
    },
  },
  {
    name: '2,000 tests to a receiver that hangs',
    steps: [],
    begin: (at) => callOften(2_000, () => sendTest(at)),
  },
  { name: '2,000 deliveries to a receiver that hangs', steps: [passthrough('a')], begin: deliverToNobody },
];

function endlessCode(timeoutMs: number): Step[] {
  return [code('loop', 'for (;;);', { processor_config: { timeout_ms: timeoutMs } })];
}

function schemaBlock(): Step {
  const $defs: { [key: string]: Json } = { d59: { type: 'string' } };
  for (let level = 0; level < 59; level += 1) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    $defs[`d${level}`] = { allOf: [next, next] };
  }
  return passthrough('check', { inputSchema: { $ref: '#/$defs/d0', $defs } as JsonSchema });
}

function uniqueItems(): Step {
  const source = 'return Array.from({ length: 30000 }, (_, i) => ({ a: [i] }));';
  return code('many', source, { outputSchema: { type: 'array', uniqueItems: true } });
}

/** Starts `concurrency` callers, each of which calls again after any answer. */
function keepCalling(concurrency: number, call: () => Promise<unknown>): void {
  for (let caller = 0; caller < concurrency; caller += 1)
    void (async () => {
      for (;;) {
        await call().catch(() => undefined);
        await sleep(10);
      }
    })();
}

async function keepExecuting(at: Surroundings, concurrency: number, message = 'm'): Promise<void> {
  const body = JSON.stringify({ message });
  keepCalling(concurrency, () => post(at, `${at.flowUrl}/execute`, body));
}

/** Runs a flow with a large result once, then requests that again and again. */
async function pollLargeResults(at: Surroundings): Promise<void> {
  const url = `${at.flowUrl}/jobs`;
  const started = await post(at, url, JSON.stringify({ message: 'm' }));
  const { executionId } = (await started.json()) as { executionId: string };
  await requireLarge(await get(at, `${url}/${executionId}?wait=60`));
  keepCalling(8, async () => (await get(at, `${url}/${executionId}`)).arrayBuffer());
}

function largeOutput(): Step {
  return code('large', `return 'x'.repeat(${LARGE_OUTPUT_BYTES});`);
}

/** Throws unless the answer is as large as the load says it is: where outputs are refused, it would read small errors. */
async function requireLarge(answer: Response): Promise<void> {
  const text = await answer.text();
  if (text.length < LARGE_OUTPUT_BYTES)
    throw new Error(`an answer has ${text.length} bytes: ${text.slice(0, 500)}`);
}

async function floodJobs(at: Surroundings): Promise<void> {
  const body = JSON.stringify({ message: 'm' });
  const flood = () =>
    Promise.allSettled(Array.from({ length: 600 }, () => post(at, `${at.flowUrl}/jobs`, body)));
  void (async () => {
    for (;;) {
      await flood();
      await sleep(5_000);
    }
  })();
}

async function keepTesting(at: Surroundings): Promise<void> {
  const { flows } = (await (await get(at, at.flowsUrl)).json()) as { flows: { id: string }[] };
  const flowUrl = `${at.flowsUrl}/${flows[0]?.id}`;
  for (let index = 0; index < 40; index += 1) {
    const testCase = { name: `case ${index}`, message: 'm', expectation: { type: 'equals', value: 'm' } };
    const { status } = await post(at, `${flowUrl}/test-cases`, JSON.stringify(testCase));
    if (status !== 201) throw new Error(`a test case was answered with ${status}`);
  }
  keepCalling(8, async () => {
    const started = await post(at, `${flowUrl}/test-runs`, '{}');
    const { test_run_id: id } = (await started.json()) as { test_run_id: string };
    for (let status = 'started'; status === 'started'; await sleep(500))
      ({ status } = (await (await get(at, `${flowUrl}/test-runs/${id}`)).json()) as { status: string });
  });
}

async function leaveStreamsUnread(at: Surroundings): Promise<void> {
  const url = new URL(`${at.flowUrl}/step`);
  const body = JSON.stringify({ executionId: null, stepIndex: 0, message: 'm', runRemaining: true });
  await requireLarge(await post(at, url.href, body));
  const request = `POST ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${at.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  keepCalling(20, async () => {
    const socket = connect(Number(url.port), url.hostname);
    const closed = new Promise((resolve) => socket.on('error', resolve).on('close', resolve));
    // A paused socket does not read.
    socket.pause();
    socket.write(request);
    await closed;
  });
}

async function deliverToNobody(at: Surroundings): Promise<void> {
  const body = JSON.stringify({ message: 'm', callbackUrl: `https://${at.hangingHost}/` });
  await callOften(2_000, () => post(at, `${at.flowUrl}/jobs`, body));
}

function sendTest(at: Surroundings): Promise<Response> {
  const url = `${at.apiUrl}/organizations/${at.organizationId}/webhooks/test`;
  return post(at, url, JSON.stringify({ url: `https://${at.hangingHost}/` }));
}

/** Makes `count` calls, 16 at a time; resolves when all are answered. */
async function callOften(count: number, call: () => Promise<Response>): Promise<void> {
  let made = 0;
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      while (made < count) {
        made += 1;
        await call();
      }
    }),
  );
}

async function post({ key }: Pick<Surroundings, 'key'>, url: string, body: string): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body });
  return new Response(await response.arrayBuffer(), { status: response.status });
}

function get({ key }: Surroundings, url: string): Promise<Response> {
  return fetch(url, { headers: { authorization: `Bearer ${key}` } });
}
