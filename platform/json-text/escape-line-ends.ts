/** Characters that JSON may have unescaped in texts, and at which Python's `splitlines` and other readers end a line. */
const LINE_ENDS = /[\u0085\u2028\u2029]/g;

/** Escapes in JSON text what readers of event streams take for the end of a line. JSON itself escapes U+000B to U+001E. */
export function escapeLineEnds(json: string): string {
  return json.replaceAll(LINE_ENDS, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
