// Spans and metrics of model calls, by OpenTelemetry's semantic conventions for generative AI.
import type { OpenAI } from 'openai';
import { z } from 'zod';
import { MICROCREDITS_PER_CREDIT } from '../../flow/credit-amount.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { Provider } from '../../platform/config/config.ts';
import type { Registry } from '../../platform/models/registry.ts';
import { type TokenUsage, toAnswerTokens } from '../../platform/models/token-usage.ts';
import {
  cachedTokens,
  cacheWriteTokens,
  modelCallDuration,
  modelCost,
  modelRetries,
  modelTokens,
  oldestModelCall,
  reasoningTokens,
} from '../../platform/observability/metrics/run-metrics.ts';
import { inSpan } from '../../platform/observability/tracing.ts';
import { ModelUnavailable } from '../attempts/model-unavailable.ts';

const OPERATION = { 'gen_ai.operation.name': 'chat' };

const NAME_MAX_CHARS = 200;
const CONTENT_MAX_CHARS = 32_768;
/** The conventions' names of providers, where they differ from the prefix of a model. */
const PROVIDER_NAMES: { [prefix: string]: string } = { google: 'gcp.gemini' };

type Params = Omit<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming, 'model'>;

export type ChatSpan = {
  /** Notes the answer, whatever its shape is. */
  answered(answer: unknown, usage: TokenUsage): void;
};

/** Makes a request to `model` (provider-prefixed) in its span. */
export function inChatSpan<T>(
  model: string,
  { baseUrl }: Provider,
  params: Params,
  request: (span: ChatSpan) => Promise<T>,
): Promise<T> {
  const names = describeModel(model);
  return inSpan(`chat ${names['gen_ai.request.model']}`, { kind: 'CLIENT' }, (span) => {
    if (!span.isRecording) return request({ answered: () => undefined });
    span.set({
      'gen_ai.operation.name': 'chat',
      ...names,
      ...serverOf(baseUrl),
      ...settingsOf(params),
      ...(hasContent() && { 'gen_ai.input.messages': cut(JSON.stringify(params.messages.map(toMessage))) }),
    });
    return request({
      answered(answer, usage) {
        const tokens = toAnswerTokens(usage);
        const { id, model: responseModel, choices } = answerShape.parse(answer);
        span.set({
          'gen_ai.usage.input_tokens': tokens.promptTokens,
          'gen_ai.usage.cache_read.input_tokens': tokens.cachedTokens,
          'gen_ai.usage.cache_creation.input_tokens': tokens.cacheWriteTokens,
          'gen_ai.usage.output_tokens': tokens.completionTokens,
          'gen_ai.usage.reasoning.output_tokens': tokens.reasoningTokens,
          ...(id !== undefined && { 'gen_ai.response.id': id }),
          ...(responseModel !== undefined && { 'gen_ai.response.model': responseModel }),
          'gen_ai.response.finish_reasons': choices.flatMap(({ finish_reason }) => finish_reason ?? []),
          ...(hasContent() && { 'gen_ai.output.messages': cut(JSON.stringify(choices.map(toAnswer))) }),
        });
      },
    });
  });
}

/** Names a model (provider-prefixed) and its provider in spans and metrics. */
function describeModel(model: string) {
  const [prefix = '', ...rest] = model.split('/');
  return {
    'gen_ai.provider.name': PROVIDER_NAMES[prefix] ?? prefix,
    'gen_ai.request.model': rest.join('/').slice(0, NAME_MAX_CHARS),
  };
}

/** Whether the content of requests and answers is asked for. */
function hasContent(): boolean {
  return process.env.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT?.toLowerCase() === 'true';
}

function cut(json: string): string {
  return json.slice(0, CONTENT_MAX_CHARS);
}

function serverOf(baseUrl: string): { [attribute: string]: string | number } {
  if (!URL.canParse(baseUrl)) return {};
  const { hostname, port, protocol } = new URL(baseUrl);
  return { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'http:' ? 80 : 443) };
}

function settingsOf({
  temperature,
  top_p,
  seed,
  max_tokens,
  max_completion_tokens,
  response_format,
}: Params) {
  const maxTokens = max_completion_tokens ?? max_tokens;
  return {
    ...(temperature != null && { 'gen_ai.request.temperature': temperature }),
    ...(top_p != null && { 'gen_ai.request.top_p': top_p }),
    ...(seed != null && { 'gen_ai.request.seed': seed }),
    ...(maxTokens != null && { 'gen_ai.request.max_tokens': maxTokens }),
    'gen_ai.output.type': response_format && response_format.type !== 'text' ? 'json' : 'text',
  };
}

const text = z
  .string()
  .transform((value) => value.slice(0, NAME_MAX_CHARS))
  .optional()
  .catch(undefined);
const called = z.object({ id: text, function: z.object({ name: text, arguments: z.string() }) });
const choiceShape = z.object({
  finish_reason: text,
  message: z
    .object({ content: z.string().optional().catch(undefined), tool_calls: z.array(called).catch([]) })
    .catch({ content: undefined, tool_calls: [] }),
});
const answerShape = z
  .object({ id: text, model: text, choices: z.array(choiceShape).catch([]) })
  .catch({ id: undefined, model: undefined, choices: [] });

type Part = { type: string; [field: string]: unknown };

/** Writes a message as the conventions have it. */
function toMessage(message: Params['messages'][number]): { role: string; parts: Part[] } {
  const { role, content } = message;
  if (role === 'tool')
    return { role, parts: [{ type: 'tool_call_response', id: message.tool_call_id, response: content }] };
  const parts: Part[] =
    typeof content === 'string'
      ? [{ type: 'text', content }]
      : [...(content ?? [])].map((part) => ({ ...part }));
  const calls = 'tool_calls' in message ? (message.tool_calls ?? []) : [];
  for (const call of calls)
    if (call.type === 'function') parts.push({ type: 'tool_call', id: call.id, ...call.function });
  return { role, parts };
}

/** Writes an answer likewise: it may be of any shape. */
function toAnswer({ finish_reason, message }: z.infer<typeof choiceShape>) {
  const { content, tool_calls } = message;
  const parts: Part[] = content === undefined ? [] : [{ type: 'text', content }];
  for (const { id, function: call } of tool_calls) parts.push({ type: 'tool_call', id, ...call });
  return { role: 'assistant', parts, finish_reason };
}

/** Returns the labels of a model. Models outside the model list are `other`. */
function labelsOf(registry: Pick<Registry, 'lists'>, model: string) {
  const names = describeModel(model);
  return registry.lists(model) ? names : { ...names, 'gen_ai.request.model': 'other' };
}

/** When the requests under way began, by provider, the oldest first; there are as many as the service has providers. */
const underWay = new Map<string, Set<{ began: number }>>();
oldestModelCall.observe(() =>
  [...underWay].map(([provider, [oldest]]) => ({
    value: oldest ? (performance.now() - oldest.began) / 1_000 : 0,
    labels: { 'gen_ai.provider.name': provider },
  })),
);

/** Measures a request to a model; `own`: it was made with a key of the caller or the organization. */
export async function measureModelCall<T>(
  registry: Pick<Registry, 'lists'>,
  model: string,
  { own }: Pick<Provider, 'own'>,
  work: () => Promise<T>,
): Promise<T> {
  const call = { began: performance.now() };
  const provider = describeModel(model)['gen_ai.provider.name'];
  const calls = underWay.get(provider) ?? new Set();
  underWay.set(provider, calls.add(call));
  modelRetries.add(0, labelsOf(registry, model));
  const record = (failure?: { 'error.type': string }) =>
    modelCallDuration.record((performance.now() - call.began) / 1_000, {
      ...OPERATION,
      ...labelsOf(registry, model),
      'weir.model.key': own ? 'own' : 'service',
      ...failure,
    });
  try {
    const answer = await work();
    record();
    return answer;
  } catch (error) {
    record({ 'error.type': typeOf(error) });
    throw error;
  } finally {
    calls.delete(call);
  }
}

/** Names why a request failed: the status of its answer, or the code that callers get. */
function typeOf(error: unknown): string {
  if (error instanceof ServiceError) return error.code;
  return error instanceof ModelUnavailable ? error.type : 'aborted';
}

/** Measures what an answer used; `isOwn`: it was paid for with the caller's own key. */
export function measureUsage(registry: Registry, model: string, usage: TokenUsage, isOwn: boolean): void {
  const { promptTokens, completionTokens } = usage;
  const labels = labelsOf(registry, model);
  modelTokens.record(promptTokens, { ...OPERATION, ...labels, 'gen_ai.token.type': 'input' });
  modelTokens.record(completionTokens, { ...OPERATION, ...labels, 'gen_ai.token.type': 'output' });
  cachedTokens.add(usage.cachedTokens, { ...OPERATION, ...labels });
  cacheWriteTokens.add(usage.cacheWriteTokens + usage.cacheWriteHourTokens, { ...OPERATION, ...labels });
  reasoningTokens.add(usage.reasoningTokens, { ...OPERATION, ...labels });
  const microcredits = isOwn ? 0 : registry.costMicrocredits(model, usage);
  modelCost.add(microcredits / MICROCREDITS_PER_CREDIT, labels);
}

/** Counts a retry of a failed or lost request. */
export function countRetry(registry: Pick<Registry, 'lists'>, model: string): void {
  modelRetries.add(1, labelsOf(registry, model));
}
