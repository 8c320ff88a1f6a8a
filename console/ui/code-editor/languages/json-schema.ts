import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { jsonLanguage } from '@codemirror/lang-json';
import { syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import type { LanguageSupport } from '../editor-types.ts';
import { loadLanguage as loadJson } from './json.ts';

const KEYWORDS = [
  ...['type', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'const', 'description'],
  ...['title', 'default', 'examples', 'format', 'pattern', 'minLength', 'maxLength', 'minimum', 'maximum'],
  ...[
    'exclusiveMinimum',
    'exclusiveMaximum',
    'multipleOf',
    'minItems',
    'maxItems',
    'uniqueItems',
    'prefixItems',
  ],
  ...[
    'minProperties',
    'maxProperties',
    'patternProperties',
    'propertyNames',
    'anyOf',
    'oneOf',
    'allOf',
    'not',
  ],
  ...['if', 'then', 'else', '$ref', '$defs', '$schema'],
];
const VALUES: Record<string, string[]> = {
  type: ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'],
  format: ['date-time', 'date', 'time', 'email', 'uri', 'uuid', 'hostname', 'ipv4', 'ipv6'],
};
/** The keys of these objects are chosen by the author. */
const HOLDERS = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];

/** JSON with completion of JSON Schema keywords. */
export function loadLanguage(): LanguageSupport {
  const { extensions, check } = loadJson();
  return {
    extensions: [...extensions, jsonLanguage.data.of({ autocomplete: complete })],
    ...(check && { check }),
  };
}

function complete(context: CompletionContext): CompletionResult | null {
  const word = context.matchBefore(/"[\w$]*$/);
  if (!word) return null;
  const options = listOptions(context.state, word.from);
  if (options.length === 0) return null;
  return { from: word.from + 1, options: options.map(toCompletion), validFor: /^[\w$]*$/ };
}

/** Completes a string without doubling a closing quote. */
function toCompletion(label: string): Completion {
  return {
    label,
    type: 'keyword',
    apply(view, _completion, from, to) {
      const hasQuote = view.state.sliceDoc(to, to + 1) === '"';
      view.dispatch({
        changes: { from, to, insert: hasQuote ? label : `${label}"` },
        selection: { anchor: from + label.length + 1 },
      });
    },
  };
}

function listOptions(state: EditorState, at: number): string[] {
  const property = keyBefore(state, at);
  if (property !== undefined) return VALUES[property] ?? [];
  let node = syntaxTree(state).resolveInner(at, -1);
  while (node.parent && node.name !== 'Object') node = node.parent;
  const holder = node.parent?.name === 'Property' ? node.parent.getChild('PropertyName') : null;
  const name = holder ? state.sliceDoc(holder.from + 1, holder.to - 1) : '';
  return node.name === 'Object' && !HOLDERS.includes(name) ? KEYWORDS : [];
}

/** Finds the key whose value begins here, such as `type` before `"`, also inside an array. */
function keyBefore(state: EditorState, at: number): string | undefined {
  const line = state.doc.lineAt(at);
  return /"([\w$]+)"\s*:\s*(?:\[[^\]]*)?$/.exec(state.sliceDoc(line.from, at))?.[1];
}
