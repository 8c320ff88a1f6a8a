import type { Block } from '../../flow/definition.ts';
import { type Rendering, renderTemplate, type TemplateValues } from '../../flow/template.ts';
import type { Registry } from '../../platform/models/registry.ts';
import { requirePromptFits } from '../../platform/models/require-prompt-fits.ts';

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
