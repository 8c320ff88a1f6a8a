// The size of a prompt, before it is rendered and after.

import type { Block } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { RENDERED_PROMPT_MAX_CHARS, TOOL_MESSAGES_MAX_BYTES } from '../../flow/limits.ts';
import { type Rendering, renderTemplate, type TemplateValues } from '../../flow/template.ts';
import type { ModelCapabilities, Registry } from './registry.ts';

/** Few texts have more characters per token. A prompt over the context by this measure is refused here, others by the provider. */
export const CHARACTERS_PER_TOKEN_MAX = 8;

/** Returns the most characters that one call of the model may send. */
export function promptMaxChars({ context_tokens }: Pick<ModelCapabilities, 'context_tokens'>): number {
  return Math.min(RENDERED_PROMPT_MAX_CHARS, context_tokens * CHARACTERS_PER_TOKEN_MAX);
}

/** Throws PROMPT_TOO_LARGE when a prompt of `chars` characters would not fit. Where the model may call tools, fewer fit. */
function requirePromptFits(
  model: string,
  capabilities: Pick<ModelCapabilities, 'context_tokens'>,
  chars: number,
  mayCallTools: boolean,
): void {
  const most = promptMaxChars(capabilities);
  if (mayCallTools && chars > TOOL_MESSAGES_MAX_BYTES)
    throw tooLarge(
      model,
      chars,
      `a conversation with tools, which begins with it, has at most ${TOOL_MESSAGES_MAX_BYTES} bytes`,
    );
  if (chars <= most) return;
  const why =
    most < RENDERED_PROMPT_MAX_CHARS
      ? `the context of ${model}, ${capabilities.context_tokens} tokens by the model list, has room for at most ${most}`
      : `at most ${most} are sent to a model`;
  throw tooLarge(model, chars, why);
}

function tooLarge(model: string, chars: number, why: string): ServiceError {
  return new ServiceError(
    'PROMPT_TOO_LARGE',
    `The prompt would have ${chars} characters with its variables filled in; ${why}. Insert less, or cut it in a code block before.`,
    { model },
  );
}

/** Measures the prompt of an llm block with its variables filled in, before it is built; throws PROMPT_TOO_LARGE. */
export function measurePrompt(
  registry: Registry,
  { model = '', prompt = '' }: Block,
  values: TemplateValues,
  tools: unknown[] = [],
): Rendering {
  const rendering = renderTemplate(prompt, values);
  requirePromptFits(model, registry.capabilities(model), rendering.length, tools.length > 0);
  return rendering;
}
