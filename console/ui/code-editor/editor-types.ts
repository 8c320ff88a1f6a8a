import type { Diagnostic } from '@codemirror/lint';
import { type Extension, Facet } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';

/** The variables of the editor. Without them nothing is checked. */
export const variableScope = Facet.define<VariableScope, VariableScope | undefined>({
  combine: ([scope]) => scope,
});

export type EditorLanguage = 'javascript' | 'json' | 'json-schema' | 'prompt' | 'text';

/** A problem of the text; without a line it is not marked. */
export type EditorProblem = { message: string; line?: number | undefined };

/** The variables that a prompt can use at its step. */
export type VariableScope = {
  /** Suggested after `{{`. */
  variables: { name: string; detail?: string | undefined }[];
  /** Returns why a variable has no value here; undefined when it has one. */
  findProblem(name: string): string | undefined;
};

/** The extensions of a language, and its check of the text. */
export type LanguageSupport = {
  extensions: Extension[];
  check?: (view: EditorView) => Diagnostic[];
};
