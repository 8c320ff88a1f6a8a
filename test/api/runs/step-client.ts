// A client of /step for tests: every event it reads is checked against the schema that the API reference has for it.
import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Tenant, Weir } from '../../harness.ts';
import { readMessages, type SseMessage } from '../../sse.ts';

const SCHEMAS: { [event: string]: string } = {
  run_started: 'StepRunStarted',
  block_started: 'StepBlockStarted',
  block_completed: 'StepBlockCompleted',
  block_retrying: 'StepBlockRetrying',
  step_progress: 'StepProgress',
  step_paused: 'StepPaused',
  step_paused_for_tool_calls: 'StepPausedForToolCalls',
  run_completed: 'StepRunCompleted',
  run_failed: 'StepRunFailed',
  stream_interrupted: 'StreamInterrupted',
};

type StepOptions = { headers?: Record<string, string>; signal?: AbortSignal; url?: string };
export type StepClient = {
  /** The answer to one call, unread. */
  open(path: string, body: object, options?: StepOptions): Promise<Response>;
  /** The events of an answer, one at a time. */
  read(response: Response): AsyncGenerator<SseMessage>;
  /** All events of one call. */
  step(path: string, body: object, options?: StepOptions): Promise<SseMessage[]>;
  /** Sends call after call until the run ends, as a client should: merges the outputs and advances the index. */
  walk(path: string, body: object): Promise<SseMessage[]>;
};

/** `path` is that of a flow, or of one version of it. */
export async function createStepClient(weir: Weir, tenant: Tenant): Promise<StepClient> {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema((await (await fetch(`${weir.url}/openapi.json`)).json()) as object, 'openapi');

  function check({ id, event, data }: SseMessage): void {
    // A block inside a step has a key.
    assert.match(id, event === 'stream_interrupted' || data.key ? /^$/ : /^[0-9a-f-]{36}:\d+$/);
    const schema = ajv.getSchema(`openapi#/components/schemas/${SCHEMAS[event]}`);
    assert(schema, `${event} is not in the API reference`);
    assert(schema(data), `${event}: ${ajv.errorsText(schema.errors)} in ${JSON.stringify(data)}`);
  }

  const client: StepClient = {
    open: (path, body, { headers, signal, url = weir.url } = {}) =>
      fetch(`${url}/api/v1/seq/${path}/step`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        signal: signal ?? null,
      }),
    async *read(response) {
      for await (const message of readMessages(response)) {
        check(message);
        yield message;
      }
    },
    async step(path, body, options) {
      const response = await client.open(path, body, options);
      if (response.status !== 200) assert.fail(`${response.status} ${await response.text()}`);
      const messages: SseMessage[] = [];
      for await (const message of client.read(response)) messages.push(message);
      return messages;
    },
    async walk(path, body) {
      const messages: SseMessage[] = [];
      let next: object | undefined = body;
      const accumulatedOutputs: { [stepId: string]: unknown } = {};
      while (next) {
        const call = await client.step(path, next);
        messages.push(...call);
        for (const { event, data } of call)
          if (event === 'block_completed') accumulatedOutputs[data.stepId] = data.output;
        const last = call.at(-1);
        const { executionId, nextStepIndex: stepIndex } = last?.data ?? {};
        next = last?.event === 'step_paused' ? { executionId, stepIndex, accumulatedOutputs } : undefined;
      }
      return messages;
    },
  };
  return client;
}

/** The one event of that name. */
export function only(messages: SseMessage[], event: string): SseMessage['data'] {
  const found = messages.filter((message) => message.event === event);
  assert.equal(found.length, 1, `${found.length} × ${event} in ${names(messages)}`);
  return found[0]?.data;
}

export function names(messages: SseMessage[]): string[] {
  return messages.map(({ event }) => event);
}

/** The call again, with a result for each tool call. */
export function resumeOf(call: object, events: SseMessage[]) {
  const { toolCallMessages, toolCalls, iterationsUsed, stepIndex, accumulatedOutputs } = only(
    events,
    'step_paused_for_tool_calls',
  );
  const results = toolCalls.map(({ id }: { id: string }) => ({
    role: 'tool',
    tool_call_id: id,
    content: `result of ${id}`,
  }));
  return {
    ...call,
    stepIndex,
    accumulatedOutputs,
    iterationsUsed,
    toolCallMessages: [...toolCallMessages, ...results],
  };
}
