// Builds the messages of a model call: the schema, the prompt with its images, the tool calls so far.
import type { OpenAI } from 'openai';
import type { Attachment } from '../../flow/attachment.ts';
import type { Block } from '../../flow/definition.ts';
import type { ToolCallMessage } from '../../flow/tool-calls.ts';
import { schemaInstruction, schemaResponseFormat } from './schema-format.ts';

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
