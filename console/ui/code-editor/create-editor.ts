import { autocompletion, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { bracketMatching, indentOnInput, indentUnit } from '@codemirror/language';
import { type Diagnostic, linter, lintGutter, lintKeymap, setDiagnosticsEffect } from '@codemirror/lint';
import {
  Annotation,
  Compartment,
  EditorState,
  StateEffect,
  StateField,
  Transaction,
} from '@codemirror/state';
import { drawSelection, EditorView, keymap, placeholder } from '@codemirror/view';
import { editorTheme } from './editor-theme.ts';
import {
  type EditorLanguage,
  type EditorProblem,
  type LanguageSupport,
  type VariableScope,
  variableScope,
} from './editor-types.ts';

type EditorOptions = {
  language: EditorLanguage;
  value: string;
  placeholder: string;
  isReadOnly: boolean;
  /** Attributes of the text element, such as its accessible name. */
  attributes: Record<string, string>;
  onChange(value: string): void;
  /** Called after each check with the problems of the text and their lines. */
  onProblems(problems: string[]): void;
};

export type Editor = {
  /** Replaces the text if it differs; the cursor stays where possible. */
  setValue(value: string): void;
  setProblems(problems: EditorProblem[]): void;
  setScope(scope: VariableScope | undefined): void;
  setReadOnly(isReadOnly: boolean): void;
  /** Tells assistive technology whether the text is valid. */
  setInvalid(isInvalid: boolean): void;
  destroy(): void;
};

const LINT_DELAY_MS = 300;
const LANGUAGES: Record<EditorLanguage, () => Promise<{ loadLanguage(): LanguageSupport }>> = {
  javascript: () => import('./languages/javascript.ts'),
  json: () => import('./languages/json.ts'),
  'json-schema': () => import('./languages/json-schema.ts'),
  prompt: () => import('./languages/prompt.ts'),
  text: async () => ({ loadLanguage: () => ({ extensions: [] }) }),
};
/** In these languages Tab indents; in others it moves to the next field. */
const INDENTING: EditorLanguage[] = ['javascript', 'json', 'json-schema'];

const fromOutside = Annotation.define<boolean>();
const problemsGiven = StateEffect.define<EditorProblem[]>();
const givenProblems = StateField.define<EditorProblem[]>({
  create: () => [],
  update: (problems, { effects }) => effects.find((effect) => effect.is(problemsGiven))?.value ?? problems,
});

/** Creates an editor in `parent`. */
export async function createEditor(parent: HTMLElement, options: EditorOptions): Promise<Editor> {
  const { language, value, isReadOnly } = options;
  const support = (await LANGUAGES[language]()).loadLanguage();
  const scope = new Compartment();
  const access = new Compartment();
  const validity = new Compartment();
  const view = new EditorView({
    parent,
    doc: value,
    extensions: [
      editorTheme(),
      history(),
      drawSelection(),
      bracketMatching(),
      indentOnInput(),
      indentUnit.of('  '),
      autocompletion({ icons: false }),
      keymap.of([
        ...completionKeymap,
        ...lintKeymap,
        ...historyKeymap,
        ...defaultKeymap,
        ...(INDENTING.includes(language) ? [indentWithTab] : []),
      ]),
      EditorView.lineWrapping,
      // A tab stop of its own, because scrollable content must be reachable by keyboard, even when it is read-only.
      EditorView.contentAttributes.of({ ...options.attributes, tabindex: '0' }),
      placeholder(options.placeholder),
      scope.of([]),
      access.of(accessOf(isReadOnly)),
      validity.of([]),
      support.extensions,
      givenProblems,
      linter((view) => listDiagnostics(view, support.check), {
        delay: LINT_DELAY_MS,
        needsRefresh: ({ transactions, state, startState }) =>
          transactions.some(({ effects }) => effects.some((effect) => effect.is(problemsGiven))) ||
          state.facet(variableScope) !== startState.facet(variableScope),
      }),
      ...(language === 'javascript' ? [lintGutter()] : []),
      EditorView.updateListener.of(({ docChanged, state, transactions }) => {
        if (docChanged && !transactions.some((transaction) => transaction.annotation(fromOutside)))
          options.onChange(state.doc.toString());
        for (const effect of transactions.flatMap(({ effects }) => effects))
          if (effect.is(setDiagnosticsEffect))
            options.onProblems(
              effect.value.map(({ from, message }) => `Line ${state.doc.lineAt(from).number}: ${message}`),
            );
      }),
    ],
  });
  return {
    setValue: (text) => replaceText(view, text),
    setProblems: (problems) => view.dispatch({ effects: problemsGiven.of(problems) }),
    setScope: (given) => view.dispatch({ effects: scope.reconfigure(given ? variableScope.of(given) : []) }),
    setReadOnly: (readOnly) => view.dispatch({ effects: access.reconfigure(accessOf(readOnly)) }),
    setInvalid: (isInvalid) =>
      view.dispatch({
        effects: validity.reconfigure(
          isInvalid ? EditorView.contentAttributes.of({ 'aria-invalid': 'true' }) : [],
        ),
      }),
    destroy: () => view.destroy(),
  };
}

function accessOf(isReadOnly: boolean) {
  return EditorState.readOnly.of(isReadOnly);
}

/** Replaces only the part of the text that differs, so that the cursor stays. The user cannot undo it. */
function replaceText(view: EditorView, text: string): void {
  const now = view.state.doc.toString();
  if (now === text) return;
  const most = Math.min(now.length, text.length);
  let from = 0;
  while (from < most && now[from] === text[from]) from += 1;
  let end = 0;
  while (end < most - from && now[now.length - 1 - end] === text[text.length - 1 - end]) end += 1;
  view.dispatch({
    changes: { from, to: now.length - end, insert: text.slice(from, text.length - end) },
    annotations: [fromOutside.of(true), Transaction.addToHistory.of(false)],
  });
}

function listDiagnostics(view: EditorView, check: LanguageSupport['check']): Diagnostic[] {
  const found = check?.(view) ?? [];
  const { doc } = view.state;
  const given = view.state.field(givenProblems).flatMap(({ message, line }): Diagnostic[] => {
    // The service's message about a syntax error adds nothing to the position found here.
    if (line === undefined || line > doc.lines || (found.length > 0 && message.startsWith('SyntaxError')))
      return [];
    const { from, to } = doc.line(line);
    return [{ from, to, severity: 'error', message }];
  });
  return [...found, ...given];
}
