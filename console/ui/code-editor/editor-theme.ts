// The editor's theme. Every colour is a value of tokens.css, so that it follows light and dark.
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const UNDERLINE = {
  backgroundImage: 'none',
  textDecoration: 'underline wavy 1px',
  textUnderlineOffset: '3px',
};
const marker = (colour: string) => ({
  content: '""',
  width: '7px',
  height: '7px',
  margin: '6px 0 0 2px',
  borderRadius: '50%',
  background: colour,
});

const view = EditorView.theme({
  '&': { fontSize: 'var(--size)', color: 'var(--text)', backgroundColor: 'transparent', height: '100%' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.55', overflow: 'auto' },
  '.cm-content': { padding: 'var(--space-2) 0', caretColor: 'var(--text)', minHeight: 'inherit' },
  '.cm-line': { padding: '0 var(--space-2)' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--surface-selected)',
  },
  '&.cm-focused .cm-matchingBracket': { background: 'var(--surface-selected)', color: 'inherit' },
  '&.cm-focused .cm-nonmatchingBracket': { background: 'var(--bad-soft)', color: 'inherit' },
  '.cm-placeholder': { color: 'var(--text-faint)' },
  '.cm-gutters': { background: 'transparent', color: 'var(--text-faint)', border: '0' },
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 2px 0 var(--space-2)', minWidth: '2ch' },
  '.cm-activeLine, .cm-activeLineGutter': { background: 'transparent' },
  '.cm-gutter-lint': { width: '12px' },
  '.cm-gutter-lint .cm-gutterElement': { padding: '0' },
  '.cm-lint-marker-error': marker('var(--bad)'),
  '.cm-lint-marker-warning': marker('var(--warn)'),
  '.cm-lintRange-error': { ...UNDERLINE, textDecorationColor: 'var(--bad)' },
  '.cm-lintRange-warning': { ...UNDERLINE, textDecorationColor: 'var(--warn)' },
  '.cm-lintPoint:after': { borderBottomColor: 'var(--bad)' },
  '.cm-diagnostic': { padding: 'var(--space-1) var(--space-2)', fontFamily: 'var(--font)' },
  '.cm-diagnostic-error': { borderLeft: '3px solid var(--bad)' },
  '.cm-diagnostic-warning': { borderLeft: '3px solid var(--warn)' },
  '.cm-tooltip': {
    maxWidth: 'min(30rem, calc(100vw - 16px))',
    background: 'var(--surface-raised)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
    borderRadius: 'var(--radius)',
    boxShadow: 'var(--shadow)',
    fontSize: 'var(--size-small)',
    overflow: 'hidden',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--font-mono)', maxHeight: '14rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px var(--space-2)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    background: 'var(--surface-selected)',
    color: 'var(--text)',
  },
  '.cm-completionMatchedText': { textDecoration: 'none', color: 'var(--accent)' },
  '.cm-completionDetail': { color: 'var(--text-soft)', fontStyle: 'normal', fontFamily: 'var(--font)' },
  '.cm-panels': { background: 'var(--surface-raised)', color: 'var(--text)', borderColor: 'var(--line)' },
  '.cm-panel.cm-panel-lint ul [aria-selected]': {
    background: 'var(--surface-selected)',
    color: 'var(--text)',
  },
  '.cm-variable': {
    color: 'var(--accent)',
    background: 'var(--accent-soft)',
    borderRadius: '4px',
    padding: '1px 2px',
  },
});

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--kind-llm)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
  { tag: [tags.comment], color: 'var(--text-faint)', fontStyle: 'italic' },
  { tag: [tags.propertyName, tags.attributeName], color: 'var(--busy)' },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.punctuation, tags.operator, tags.bracket], color: 'var(--text-soft)' },
]);

/** Returns the theme. Call it when an editor is created, because the nonce is the page's. */
export function editorTheme(): Extension {
  // With the nonce, the content security policy allows the editor's styles.
  const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
  return [view, syntaxHighlighting(colours), EditorView.cspNonce.of(nonce)];
}
