/** A variable of a prompt, or a text that looks like one. `name` has no braces; `to` is after the closing ones. */
type FoundVariable = { name: string; from: number; to: number; isKnownForm: boolean };

// Both match the service's own (flow/template.ts).
const VARIABLE = /^(?:message|previous_output|(?:parameters|steps)(?:\.[A-Za-z0-9_-]+)+)$/;
const LOOKALIKE = /(?<=(?<!\\)(?:\\\\)*)\{\{\s*([\p{L}_$][\p{L}\p{N}_$.[\] -]{0,98}?)\s*\}\}/gu;

/** Finds the variables of a prompt, in order. Escaped braces, and other text in braces, such as JSON, are ignored. */
export function findVariables(prompt: string): FoundVariable[] {
  return Array.from(prompt.matchAll(LOOKALIKE), ({ 0: text, 1: name = '', index }) => ({
    name,
    from: index,
    to: index + text.length,
    isKnownForm: VARIABLE.test(name),
  }));
}
