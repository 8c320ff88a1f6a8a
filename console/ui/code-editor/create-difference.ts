import { json } from '@codemirror/lang-json';
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { editorTheme } from './editor-theme.ts';

export type DifferenceLanguage = 'json' | 'text';

type Options = { before: string; after: string; language: DifferenceLanguage; label: string };

const BESIDE_MIN_PX = 720;
const COLLAPSE = { margin: 3, minSize: 6 };

const look = EditorView.theme({
  '&.cm-merge-a .cm-changedLine, .cm-deletedChunk': { background: 'var(--bad-soft)' },
  '&.cm-merge-b .cm-changedLine, .cm-insertedLine': { background: 'var(--good-soft)' },
  '&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText, &.cm-merge-a .cm-deletedText': {
    background: 'color-mix(in srgb, var(--bad) 24%, transparent)',
    textDecoration: 'none',
  },
  '&.cm-merge-b .cm-changedText, .cm-insertedLine .cm-changedText': {
    background: 'color-mix(in srgb, var(--good) 24%, transparent)',
    textDecoration: 'none',
  },
  '&.cm-merge-a .cm-changedLineGutter, .cm-deletedLineGutter': { background: 'var(--bad)' },
  '&.cm-merge-b .cm-changedLineGutter': { background: 'var(--good)' },
  // Syntax colours are illegible on the colours of changes.
  '.cm-changedText, .cm-changedText span, .cm-deletedText, .cm-deletedText span': { color: 'var(--text)' },
  '.cm-collapsedLines': {
    background: 'var(--surface-hover)',
    color: 'var(--text-soft)',
    padding: '3px var(--space-3)',
    cursor: 'pointer',
  },
  // Few fonts have the library's characters.
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"…"' },
  '.cm-insertedLine, .cm-deletedLine, .cm-deletedLine del': { textDecoration: 'none' },
});

/** Shows the differences of two texts; the returned function removes them. */
export function createDifference(parent: HTMLElement, options: Options): () => void {
  const { before, after, language, label } = options;
  const shared: Extension[] = [
    editorTheme(),
    look,
    EditorState.readOnly.of(true),
    EditorView.lineWrapping,
    ...(language === 'json' ? [json()] : []),
  ];
  const named = (name: string) => EditorView.contentAttributes.of({ 'aria-label': name, tabindex: '0' });
  if (parent.clientWidth >= BESIDE_MIN_PX) {
    const merge = new MergeView({
      parent,
      a: { doc: before, extensions: [shared, named(`${label}: before`)] },
      b: { doc: after, extensions: [shared, named(`${label}: after`)] },
      collapseUnchanged: COLLAPSE,
    });
    return () => merge.destroy();
  }
  const view = new EditorView({
    parent,
    doc: after,
    extensions: [
      shared,
      named(label),
      unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: COLLAPSE }),
    ],
  });
  return () => view.destroy();
}
