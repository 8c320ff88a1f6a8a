import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import type { Diagnostic } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { Decoration, type EditorView, MatchDecorator, ViewPlugin, type ViewUpdate } from '@codemirror/view';
import { type LanguageSupport, variableScope } from '../editor-types.ts';
import { findVariables } from '../find-variables.ts';

/** A prompt: variables are marked, completed after `{{`, and checked. */
export function loadLanguage(): LanguageSupport {
  return {
    extensions: [marks, EditorState.languageData.of(() => [{ autocomplete: complete }])],
    check,
  };
}

const matcher = new MatchDecorator({
  regexp:
    /(?<=(?<!\\)(?:\\\\)*)\{\{\s*(?:message|previous_output|(?:parameters|steps)(?:\.[A-Za-z0-9_-]+)+)\s*\}\}/g,
  decoration: Decoration.mark({ class: 'cm-variable' }),
});
const marks = ViewPlugin.define(
  (view) => ({
    decorations: matcher.createDeco(view),
    update(update: ViewUpdate) {
      this.decorations = matcher.updateDeco(update, this.decorations);
    },
  }),
  { decorations: (plugin) => plugin.decorations },
);

function check({ state }: EditorView): Diagnostic[] {
  const scope = state.facet(variableScope);
  if (!scope) return [];
  return findVariables(state.doc.toString()).flatMap(({ name, from, to }) => {
    const message = scope.findProblem(name);
    return message === undefined ? [] : [{ from, to, severity: 'error' as const, message }];
  });
}

function complete(context: CompletionContext): CompletionResult | null {
  const scope = context.state.facet(variableScope);
  const open = context.matchBefore(/\{\{\s*[\w.$-]*$/);
  if (!scope || !open) return null;
  const from = open.from + open.text.length - (/[\w.$-]*$/.exec(open.text)?.[0].length ?? 0);
  return {
    from,
    validFor: /^[\w.$-]*$/,
    options: scope.variables.map(({ name, detail }) => ({
      label: name,
      type: 'variable',
      ...(detail !== undefined && { detail }),
      apply(view: EditorView, _completion: unknown, start: number, end: number) {
        const closing = /^\s*\}\}/.exec(view.state.sliceDoc(end, end + 10))?.[0];
        view.dispatch({
          changes: { from: start, to: end, insert: closing === undefined ? `${name}}}` : name },
          selection: { anchor: start + name.length + (closing?.length ?? 2) },
        });
      },
    })),
  };
}
