// Plays a case of cases.yaml: a scripted provider, and a caller that follows a pause.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Block } from '../../flow/definition.ts';
import { llm } from '../blocks.ts';
import { type FakeModelServer, type ModelCall, respond } from '../fakes/model-server.ts';
import type { Answer, Tenant, Weir } from '../harness.ts';
import type { Case, Exchange } from './read-cases.ts';
import { fulfils } from './rules.ts';

/** An exchange with this note repeats until a run has failed. */
const UNTIL_FAILED = 'until the run fails';

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape, and assert what they find
export type Body = any;

export type Played = {
  /** The answers of Weir, the last one last. `detail` of a refused request is in the body. */
  answers: Answer[];
  last: Body;
  /** The requests at the provider. */
  calls: ModelCall[];
  /** Sends a result for each call of a pause, and returns the answer. */
  resume(paused: Body, result: string): Promise<Body>;
  /** Sends the last request once more, and returns the answer. */
  resend(): Promise<Body>;
  /** Runs the flow once more, and returns the number of requests at the provider. */
  runAgain(): Promise<number>;
  /** Reads the trace of the block. */
  readTrace(): Promise<Body>;
  /** Reads the state of the run. */
  readRun(): Promise<Body>;
};

/**
 * Runs the flow of a case, resumes it where the case says so, and returns what happened. A model named `x` gets a name of its
 * own, so that nothing that Weir remembers of a model passes from one case to another.
 */
export async function playCase(
  { weir, tenant, models }: { weir: Weir; tenant: Tenant; models: FakeModelServer },
  { id, block: written = {}, provider = [], message = 'm', attachments, resume, note }: Case,
  more: Partial<Block> = {},
): Promise<Played> {
  models.reset();
  const script = createScript(provider);
  models.always(script.behave);
  const { tools: names, model = '', ...block } = written;
  const config = { ...(names && { tools_enabled: true }), ...more.processor_config };
  const ownModel = model.endsWith('/x') ? `${model}-${id}-${randomUUID().slice(0, 8)}` : model;
  const step = llm('ask', '{{message}}', ownModel, { ...block, ...more, processor_config: config });
  const flow = await weir.createFlow(tenant, [step]);
  const tools = names?.map((name) => ({ type: 'function', function: { name, parameters: PARAMETERS } }));

  const answers: Answer[] = [];
  let sent: Body;
  async function send(body: Body): Promise<Body> {
    sent = body;
    const answer = await weir.call('POST', `${flow}/execute`, { key: tenant.key, body });
    answers.push(answer);
    played.last = answer.body;
    if (answer.body.status === 'failed') script.runFailed();
    return answer.body;
  }
  const request = { message, ...(attachments && { attachments }), ...(tools && { tools }) };
  const read = async (suffix = '') => {
    const path = `${flow}/jobs/${played.last.executionId}${suffix}`;
    const { status, body } = await weir.call('GET', path, { key: tenant.key });
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  const played: Played = {
    answers,
    last: undefined,
    calls: models.calls,
    async resume(paused, result) {
      const { toolCallMessages, toolCalls, ...rest } = paused;
      const results = toolCalls.map(({ id }: Body) => ({ role: 'tool', tool_call_id: id, content: result }));
      const turns = structuredClone(toolCallMessages);
      if (note?.includes('the caller adds reasoning_content')) {
        turns[1].reasoning_content = 'They want the weather.';
        // The signature is of what the pause said.
        delete rest.resumeState;
      }
      return send({ ...rest, toolCallMessages: [...turns, ...results], tools });
    },
    resend: () => send(sent),
    async runAgain() {
      const before = models.calls.length;
      await send(request);
      return models.calls.length - before;
    },
    readTrace: () => read('/blocks/ask'),
    readRun: () => read(),
  };
  await send(request);
  if (resume !== undefined) {
    assert.equal(played.last.status, 'tool_calls_required', JSON.stringify(played.last));
    // A mapped name is handed out, so a caller may have to answer again.
    for (let round = 0; round < ROUNDS_MAX && played.last.status === 'tool_calls_required'; round++)
      await played.resume(played.last, resume);
  }
  return played;
}

const ROUNDS_MAX = 5;

const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } } };

function createScript(exchanges: Exchange[]) {
  let next = 0;
  const behave = (response: ServerResponse, call: ModelCall) => {
    const exchange = exchanges[Math.min(next, exchanges.length - 1)] ?? {};
    if (exchange.note !== UNTIL_FAILED) next += 1;
    const refusal = findRefusal(exchange, call);
    if (refusal !== undefined)
      return respond(exchange.status ?? 400, exchange.body ?? { error: { message: refusal } })(response);
    // The status and body of a rule are those of its refusal.
    const isRule = exchange.refuses_if !== undefined || exchange.refuses_unless !== undefined;
    const { status = 200, headers, body } = isRule ? {} : exchange;
    const isMessages = call.url.split('?')[0]?.endsWith('/messages');
    const sound = isMessages ? messageOf(exchange) : completionOf(exchange);
    respond(status, body ?? sound, headers)(response);
  };
  return {
    behave,
    /** Goes on from an exchange that repeats until a run fails. */
    runFailed() {
      if (exchanges[next]?.note === UNTIL_FAILED) next += 1;
    },
  };
}

/** Returns the rule by which a provider refuses a request. */
function findRefusal({ refuses_if, refuses_unless }: Exchange, { body }: ModelCall): string | undefined {
  if (refuses_if !== undefined && fulfils(body, refuses_if)) return refuses_if;
  if (refuses_unless !== undefined && !fulfils(body, refuses_unless)) return refuses_unless;
  return undefined;
}

/** Makes a chat completion. Tool calls get ids. */
function completionOf({ answer = { content: 'x' }, finish, usage }: Exchange) {
  const { tool_calls: calls, ...rest } = answer;
  const message = {
    role: 'assistant',
    content: null,
    ...rest,
    ...(calls && {
      tool_calls: calls.map((call: object) => ({ id: `call_${randomUUID()}`, type: 'function', ...call })),
    }),
  };
  return {
    id: 'chatcmpl-case',
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: finish ?? (calls ? 'tool_calls' : 'stop') }],
    usage: usage ?? { prompt_tokens: 10, completion_tokens: 5 },
  };
}

/** Makes an answer of Anthropic's Messages API. */
function messageOf({ answer = { content: 'x' }, usage }: Exchange) {
  return {
    id: 'msg_case',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [{ type: 'text', text: answer.content }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage,
  };
}
