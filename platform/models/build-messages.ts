// Builds the messages of a model call: the schema, the prompt with its images, the tool calls so far.
import type { OpenAI } from 'openai';
import type { Block, JsonSchema } from '../../flow/definition.ts';
import type { Attachment } from '../../flow/run.ts';
import type { ToolCallMessage } from '../../flow/tool-calls.ts';

const STRICT_DEPTH_MAX = 10;

/** Keywords that every provider's strict mode accepts; others may be refused with status 400. */
const STRICT_KEYWORDS = new Set(
  (
    '$schema $ref $defs definitions title description type properties required additionalProperties items anyOf ' +
    'enum const minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems'
  ).split(' '),
);

/**
 * Builds the messages and the response format. `hasFormat`: whether the model honours `response_format: json_schema`. If it
 * does not, or providers refuse the schema, the schema goes into the instructions.
 */
export function buildMessages(
  request: {
    block: Pick<Block, 'outputSchema' | 'processor_config'>;
    conversation: ToolCallMessage[];
    attachments?: Attachment[] | undefined;
  },
  { hasFormat }: { hasFormat: boolean },
) {
  const { outputSchema: schema, processor_config: { system } = {} } = request.block;
  const format = schema !== undefined && hasFormat ? schemaResponseFormat(schema) : undefined;
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [];
  if (schema !== undefined && format === undefined)
    messages.push({ role: 'system', content: schemaInstruction(schema) });
  if (system) messages.push({ role: 'system', content: system });
  const conversation = request.conversation.map((message, index) =>
    message.role === 'user' && index === 0
      ? { ...message, content: userContent(message.content, request.attachments) }
      : message,
  );
  messages.push(...(conversation as OpenAI.Chat.ChatCompletionMessageParam[]));
  return { messages, format };
}

/** Adds the images to the prompt, which is the first message. */
function userContent(text: string, attachments: Attachment[] = []) {
  if (attachments.length === 0) return text;
  // As it was understood when it was checked, whatever a provider would make of it.
  const images = attachments.map(({ url }) => ({
    type: 'image_url' as const,
    image_url: { url: new URL(url).href },
  }));
  return [{ type: 'text' as const, text }, ...images];
}

/** Returns the native response format; undefined when the root is not an object, which providers refuse. */
export function schemaResponseFormat(schema: JsonSchema): OpenAI.ResponseFormatJSONSchema | undefined {
  if (typeof schema === 'boolean' || schema.type !== 'object') return undefined;
  return { type: 'json_schema', json_schema: { name: 'output', schema, strict: fitsStrictMode(schema) } };
}

/** Returns the instruction for models without a native format. */
function schemaInstruction(schema: JsonSchema): string {
  return `Answer with one JSON value that matches the following JSON Schema, and nothing else: no explanation, no code fence.\n${JSON.stringify(schema)}`;
}

/** Whether a schema fits strict mode, which wants every object closed and each of its properties required. */
function fitsStrictMode(schema: unknown, depth = 1): boolean {
  if (typeof schema !== 'object' || schema === null || depth > STRICT_DEPTH_MAX) return false;
  const {
    type,
    properties = {},
    required,
    additionalProperties,
    items,
    anyOf = [],
    $defs = {},
    definitions = {},
  } = schema as Record<string, unknown>;
  if (!Object.keys(schema).every((keyword) => STRICT_KEYWORDS.has(keyword))) return false;
  if (type === undefined && !('anyOf' in schema) && !('$ref' in schema)) return false;

  const names = Object.keys(properties as object);
  if (names.length > 0 || [type].flat().includes('object')) {
    const isClosed = additionalProperties === false;
    if (!isClosed || !names.every((name) => Array.isArray(required) && required.includes(name))) return false;
  }
  const parts = [properties, anyOf, $defs, definitions].flatMap((part) => Object.values(part as object));
  if (items !== undefined) parts.push(items);
  return parts.every((part) => fitsStrictMode(part, depth + 1));
}
