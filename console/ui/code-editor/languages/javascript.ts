import { type CompletionContext, closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete';
import { javascript, javascriptLanguage, localCompletionSource } from '@codemirror/lang-javascript';
import type { Diagnostic } from '@codemirror/lint';
import { type EditorView, keymap, lineNumbers } from '@codemirror/view';
import { parse } from 'acorn';
import type { LanguageSupport } from '../editor-types.ts';

/** The names that a code block has in addition to JavaScript's own. */
const IN_SCOPE = [
  { label: 'input', type: 'variable', detail: 'the output of the step before' },
  { label: 'message', type: 'variable', detail: 'the message of the run' },
  { label: 'parameters', type: 'variable', detail: 'the parameters of the run' },
  { label: 'outputs', type: 'variable', detail: 'outputs of earlier steps, by step_id' },
];

/** JavaScript: the body of an async function, as in code blocks. */
export function loadLanguage(): LanguageSupport {
  return {
    extensions: [
      javascript(),
      lineNumbers(),
      closeBrackets(),
      keymap.of(closeBracketsKeymap),
      javascriptLanguage.data.of({ autocomplete: localCompletionSource }),
      javascriptLanguage.data.of({
        autocomplete: (context: CompletionContext) => {
          const word = context.matchBefore(/(?<![\w$.])[\w$]+$/);
          return word || context.explicit ? { from: word?.from ?? context.pos, options: IN_SCOPE } : null;
        },
      }),
    ],
    check,
  };
}

function check(view: EditorView): Diagnostic[] {
  const found = findSyntaxError(view.state.doc.toString());
  if (!found) return [];
  const from = Math.min(found.at, view.state.doc.length);
  const line = view.state.doc.lineAt(from);
  // An error at the end of the text is marked on its last character, where it is visible.
  const start = from === line.to && from > line.from ? from - 1 : from;
  return [{ from: start, to: Math.min(start + 1, line.to), severity: 'error', message: found.message }];
}

/** Finds the first syntax error in the body of an async function. */
export function findSyntaxError(source: string): { at: number; message: string } | undefined {
  try {
    parse(source, {
      ecmaVersion: 'latest',
      sourceType: 'script',
      allowReturnOutsideFunction: true,
      allowAwaitOutsideFunction: true,
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError) || !('pos' in error)) throw error;
    const message = error.message.replace(/ \(\d+:\d+\)$/, '');
    return { at: Number(error.pos), message: `${message}.` };
  }
}
