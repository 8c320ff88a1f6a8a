import { Facet } from '@codemirror/state';
import type { VariableScope } from './editor-types.ts';

/** The variables that can be used; of an editor that is given none, none is checked. */
export const variableScope = Facet.define<VariableScope, VariableScope | undefined>({
  combine: ([scope]) => scope,
});
