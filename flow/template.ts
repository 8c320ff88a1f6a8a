// Prompt templates (spec: "What the service does", 6).
import type { Json } from './definition.ts';

export type TemplateValues = { message: string; previousOutput: Json; parameters: { [key: string]: Json } };

const VARIABLE = /\{\{\s*(message|previous_output|parameters\.([A-Za-z0-9_-]+))\s*\}\}/g;
/** What looks like a variable; longer texts in braces are no names. */
const LOOKALIKE = /\{\{[^{}]{1,100}\}\}/g;

/**
 * Replaces `{{message}}`, `{{previous_output}}` and `{{parameters.<key>}}` in one pass; inserted text is never
 * interpreted again. Strings are inserted as they are, other values as JSON, an absent parameter as nothing.
 */
export function renderTemplate(template: string, values: TemplateValues): string {
  return template.replace(VARIABLE, (_whole, variable: string, parameter: string | undefined) => {
    if (variable === 'message') return values.message;
    if (variable === 'previous_output') return toText(values.previousOutput);
    const key = parameter as string;
    return Object.hasOwn(values.parameters, key) ? toText(values.parameters[key] as Json) : '';
  });
}

/** What looks like a variable and is none, so that `renderTemplate` leaves it as it is; each once. */
export function findUnknownVariables(template: string): string[] {
  return [...new Set(template.replace(VARIABLE, '}').match(LOOKALIKE))];
}

function toText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
