import type { Block } from '../flow/definition.ts';
import { renderTemplate, type TemplateValues } from '../flow/template.ts';
import type { Registry } from '../models/registry.ts';
import { requirePromptFits } from '../models/require-prompt-fits.ts';

/** Builds the prompt of an llm block with its variables filled in; throws PROMPT_TOO_LARGE without building it. */
export function buildPrompt(
  registry: Registry,
  { model = '', prompt = '' }: Block,
  values: TemplateValues,
  tools: unknown[] = [],
): string {
  const rendering = renderTemplate(prompt, values);
  requirePromptFits(model, registry.capabilities(model), rendering.length, { tools: tools.length > 0 });
  return rendering.build();
}
