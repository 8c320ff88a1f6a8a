// Builds the messages of a model call: the schema, the prompt with its images, the tool calls so far.
import type { OpenAI } from 'openai';
import type { Block, JsonSchema } from '../../flow/definition.ts';
import { isObject } from '../../flow/json.ts';
import type { Attachment } from '../../flow/run.ts';
import type { ToolCallMessage } from '../../flow/tool-calls.ts';
import { standardizeSchema } from '../json-schema/standardize-schema.ts';
import { toStrictSchema } from './strict-schema.ts';
import { wrapSchema } from './wrap-schema.ts';

/**
 * Builds the messages and the response format. `hasFormat`: whether the model honours `response_format: json_schema`. If it
 * does not, or the format cannot express the schema, the schema goes into the instructions. `isWrapped`: the format asks for an
 * object with the answer as its `value`. `stable`: the number of messages, from the first, that are the same in each run.
 */
export function buildMessages(
  request: {
    block: Pick<Block, 'outputSchema' | 'processor_config'>;
    conversation: ToolCallMessage[];
    attachments?: Attachment[] | undefined;
  },
  { hasFormat }: { hasFormat: boolean },
) {
  const { outputSchema: schema, processor_config: { system, messages: examples = [] } = {} } = request.block;
  const standard = schema === undefined ? undefined : standardizeSchema(schema).schema;
  const format = standard !== undefined && hasFormat ? schemaResponseFormat(standard) : undefined;
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [];
  if (system?.trim()) messages.push({ role: 'system', content: system });
  if (schema !== undefined && format === undefined) addInstruction(messages, schema);
  messages.push(...examples);
  const stable = messages.length;
  const conversation = request.conversation.map((message, index) =>
    message.role === 'user' && index === 0
      ? { ...message, content: userContent(message.content, request.attachments) }
      : message,
  );
  messages.push(...(conversation as OpenAI.Chat.ChatCompletionMessageParam[]));
  return { messages, stable, format, isWrapped: format !== undefined && !hasObjectRoot(standard) };
}

/** Adds the images to the prompt, which is the first message. */
function userContent(text: string, attachments: Attachment[] = []) {
  if (attachments.length === 0) return text;
  // As it was understood when it was checked, whatever a provider would make of it.
  const images = attachments.map(({ url }) => ({
    type: 'image_url' as const,
    image_url: { url: new URL(url).href },
  }));
  // Providers refuse texts that are empty or blank.
  return text.trim() === '' ? images : [{ type: 'text' as const, text }, ...images];
}

/** Returns the native response format, of objects: a schema of other values is wrapped; undefined when it cannot be. */
export function schemaResponseFormat(standard: JsonSchema): OpenAI.ResponseFormatJSONSchema | undefined {
  const schema = hasObjectRoot(standard) ? standard : wrapSchema(standard);
  if (!isObject(schema)) return undefined;
  const strict = toStrictSchema(schema);
  return {
    type: 'json_schema',
    json_schema: { name: 'output', schema: isObject(strict) ? strict : schema, strict: strict !== undefined },
  };
}

function hasObjectRoot(schema: JsonSchema | undefined): boolean {
  return isObject(schema) && schema.type === 'object';
}

/**
 * Adds the instruction for models without a native format to the first message, or before it: the templates of many models take
 * one system message only. Returns the number of messages that were added.
 */
export function addInstruction(
  messages: OpenAI.Chat.ChatCompletionMessageParam[],
  schema: JsonSchema,
): number {
  const [first] = messages;
  const instruction = schemaInstruction(schema);
  if (first?.role !== 'system' || typeof first.content !== 'string') {
    messages.unshift({ role: 'system', content: instruction });
    return 1;
  }
  messages[0] = { ...first, content: `${instruction}\n\n${first.content}` };
  return 0;
}

/** Returns the text that asks for an answer of this schema. */
export function schemaInstruction(schema: JsonSchema): string {
  return `Answer with one JSON value that matches the following JSON Schema, and nothing else: no explanation, no code fence.\n${JSON.stringify(schema)}`;
}
