// An llm block: a chat completion, with structured output when the block has an outputSchema.
import type { OpenAI } from 'openai';
import type { Provider } from '../config.ts';
import type { Block, Json, JsonSchema } from '../flow/definition.ts';
import { ServiceError } from '../flow/errors.ts';
import type { Registry, TokenUsage } from '../models/registry.ts';
import { estimateUsage } from './estimate-usage.ts';
import { completeChat } from './model-completion.ts';
import { readJson, schemaInstruction, schemaResponseFormat } from './model-output.ts';

export { ModelUnavailable } from './model-unavailable.ts';

/** A path is made of the model's own keys, which may be long. */
const PATH_MAX_LENGTH = 300;

type Problem = { path: string; message: string };

/** What the answers for one block have used, a repair included. */
export type ModelUsage = TokenUsage & { model?: string; costMicrocredits: number };

/** A block whose prompt template is already rendered. */
export type ModelRequest = {
  block: Block;
  prompt: string;
  /** Filled in with each answer, so that one which ends in a failure is paid too. */
  usage: ModelUsage;
  /** Told before each request what the block may have cost after it, in microcredits; what it throws is passed on. */
  reserve(microcredits: number): Promise<void>;
};

export type ModelDeps = {
  providers: Record<string, Provider>;
  registry: Registry;
  /** No problems when the value matches; `path` is a JSON Pointer. */
  validator: { validate(schema: JsonSchema, value: Json): Promise<Problem[]> };
};

/**
 * Asks the block's model; answers the text, or the value that matches the outputSchema. An answer that misses it goes
 * back to the model once. Throws ModelUnavailable when repeating may help, ServiceError when it can't, the signal's
 * reason when it is aborted.
 */
export async function callModel(deps: ModelDeps, request: ModelRequest, signal: AbortSignal): Promise<Json> {
  const { model = '', outputSchema: schema, processor_config: config = {} } = request.block;
  const { usage } = request;
  usage.model = model;
  const { json_schema: hasFormat } = deps.registry.capabilities(model);
  const provider = findProvider(deps.providers, model);
  const format = schema !== undefined && hasFormat ? schemaResponseFormat(schema) : undefined;
  const messages = buildMessages(request, format === undefined ? schema : undefined);

  async function ask(): Promise<string> {
    const asked = { messages, response_format: format };
    const estimate = deps.registry.costMicrocredits(model, estimateUsage(asked, config.max_tokens));
    await request.reserve(usage.costMicrocredits + estimate);
    return completeChat(provider, model, { ...asked, ...sampling(model, config) }, signal, (answer) => {
      usage.promptTokens += answer.promptTokens;
      usage.completionTokens += answer.completionTokens;
      usage.costMicrocredits = deps.registry.costMicrocredits(model, usage);
    });
  }

  let output: Json = await ask();
  if (schema !== undefined) {
    let reading = await readOutput(deps, schema, output);
    if (reading.problems.length > 0) {
      messages.push({ role: 'assistant', content: output });
      messages.push({ role: 'user', content: repairPrompt(list(reading.problems)) });
      reading = await readOutput(deps, schema, await ask());
    }
    if (reading.problems.length > 0) {
      throw new ServiceError(
        'MODEL_OUTPUT_INVALID',
        `The answer of ${model} does not match the outputSchema, also after one repair: ${list(reading.problems).join('; ')}.`,
        { model, problems: reading.problems },
      );
    }
    output = reading.value;
  }
  return output;
}

function findProvider(providers: Record<string, Provider>, model: string): Provider {
  const prefix = model.slice(0, model.indexOf('/'));
  const provider = Object.hasOwn(providers, prefix) ? providers[prefix] : undefined;
  if (provider) return provider;
  const variable = prefix.toUpperCase();
  throw new ServiceError(
    'MODEL_NOT_CONFIGURED',
    `${model} needs the provider "${prefix}": set ${variable}_API_KEY, or ${variable}_BASE_URL for a server without a key.`,
    { model },
  );
}

/** `instructed` is the schema that goes into the instructions, for want of a native format. */
function buildMessages(request: ModelRequest, instructed: JsonSchema | undefined) {
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [];
  if (instructed !== undefined) messages.push({ role: 'system', content: schemaInstruction(instructed) });
  messages.push({ role: 'user', content: request.prompt });
  return messages;
}

/** OpenAI's reasoning models refuse `max_tokens`; other servers may not know its successor. */
function sampling(model: string, { temperature, max_tokens }: NonNullable<Block['processor_config']>) {
  return model.startsWith('openai/')
    ? { temperature, max_completion_tokens: max_tokens }
    : { temperature, max_tokens };
}

async function readOutput(deps: ModelDeps, schema: JsonSchema, text: string) {
  const value = readJson(text);
  if (value === undefined) {
    return { value: null, problems: [{ path: '', message: 'is not JSON of at most 64 levels' }] };
  }
  const problems = await deps.validator.validate(schema, value);
  return {
    value,
    problems: problems.map((problem) => ({ ...problem, path: problem.path.slice(0, PATH_MAX_LENGTH) })),
  };
}

function list(problems: Problem[]): string[] {
  return problems.map(({ path, message }) => `${path || 'the value'} ${message}`);
}

function repairPrompt(problems: string[]): string {
  return `Your answer does not match the JSON Schema:\n- ${problems.join('\n- ')}\nAnswer with the corrected JSON value only.`;
}
