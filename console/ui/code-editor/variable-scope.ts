import { Facet } from '@codemirror/state';
import type { VariableScope } from './editor-types.ts';

/** The variables of the editor. Without them nothing is checked. */
export const variableScope = Facet.define<VariableScope, VariableScope | undefined>({
  combine: ([scope]) => scope,
});
