/** Marks that a text has only when it is written in Markdown. Lists count from two items on. */
const MARKS = [
  /^#{1,6} \S/m,
  /^(```|~~~)/m,
  /^[ \t]*(?:[-*+]|\d{1,9}[.)]) \S.*(?:\n|\n\n)[ \t]*(?:[-*+]|\d{1,9}[.)]) \S/m,
  /\*\*[^\s*][^*\n]*\*\*/,
  /^\|? ?:?-{3,}:? ?\|/m,
  /\[[^\]\n]+\]\(https?:\/\/[^)\s]+\)/,
];

/** Whether a text looks like Markdown. */
export function isMarkdown(text: string): boolean {
  return MARKS.some((mark) => mark.test(text));
}
