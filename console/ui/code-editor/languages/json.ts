import { closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete';
import { json } from '@codemirror/lang-json';
import { ensureSyntaxTree } from '@codemirror/language';
import type { Diagnostic } from '@codemirror/lint';
import { type EditorView, keymap } from '@codemirror/view';
import type { LanguageSupport } from '../editor-types.ts';

const PARSE_MS = 100;

/** Any JSON value, or empty. */
export function loadLanguage(): LanguageSupport {
  return { extensions: [json(), closeBrackets(), keymap.of(closeBracketsKeymap)], check };
}

function check(view: EditorView): Diagnostic[] {
  const text = view.state.doc.toString();
  if (text.trim() === '') return [];
  try {
    JSON.parse(text);
    return [];
  } catch {
    const at = findFirstError(view) ?? 0;
    const line = view.state.doc.lineAt(at);
    const from = at === line.to && at > line.from ? at - 1 : at;
    const message = `This is not valid JSON (line ${line.number}): check commas, quotes and brackets here.`;
    return [{ from, to: Math.min(from + 1, line.to), severity: 'error', message }];
  }
}

function findFirstError(view: EditorView): number | undefined {
  let first: number | undefined;
  ensureSyntaxTree(view.state, view.state.doc.length, PARSE_MS)?.iterate({
    enter(node) {
      if (node.type.isError) first ??= node.from;
      return first === undefined;
    },
  });
  return first;
}
