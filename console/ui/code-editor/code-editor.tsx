import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { classes } from '../classes.ts';
import { ErrorNote } from '../feedback.tsx';
import field from '../fields/field.module.css';
import style from './code-editor.module.css';
import type { DifferenceLanguage } from './create-difference.ts';
import type { Editor } from './create-editor.ts';
import type { EditorLanguage, EditorProblem, VariableScope } from './editor-types.ts';

type DifferenceProps = {
  /** Names the two texts, such as `Version 2 and draft`. */
  label: string;
  before: string;
  after: string;
  language?: DifferenceLanguage;
};

/** Shown when a part of the console could not be loaded: the service only has the files of its own release. */
export const NOT_LOADED_ADVICE =
  'Check that you are online; if you are, reload the page: the service may have been upgraded.';

type Props = {
  label: string;
  hideLabel?: boolean;
  language: EditorLanguage;
  value: string;
  /** Called for each change; without it the text is read-only. */
  onChange?: ((value: string) => void) | undefined;
  /** A sentence below the editor. */
  help?: ReactNode;
  /** The reason why the text is invalid; marks the editor. */
  error?: string | undefined;
  /** Problems to mark at their lines. */
  problems?: EditorProblem[] | undefined;
  /** For prompts: the variables that have a value here. */
  scope?: VariableScope | undefined;
  placeholder?: string;
  /** The minimum and maximum height, in lines. */
  lines?: [least: number, most: number];
};

const ANNOUNCE_AFTER_MS = 1_000;
/** Longer texts are cut until the editor is loaded, which renders only the visible part. */
const WAITING_MAX_CHARS = 10_000;
const NO_PROBLEMS: EditorProblem[] = [];

/**
 * Edits code, JSON, a JSON Schema or a prompt. The editor is loaded when it is first shown. Until then the text is
 * read-only; if loading fails, a plain text area replaces it.
 */
export function CodeEditor(props: Props) {
  const { label, language, value, onChange, help, error, scope, lines: [least, most] = [3, 24] } = props;
  const { problems = NO_PROBLEMS } = props;
  const id = useId();
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const [editor, setEditor] = useState<Editor>();
  const [loadError, setLoadError] = useState<Error>();
  const [found, setFound] = useState<string[]>([]);
  const [isTyped, setTyped] = useState(false);
  const announced = useDebounced(
    [...found, ...(error === undefined ? [] : [error])].join('\n'),
    ANNOUNCE_AFTER_MS,
  );
  const isInvalid = error !== undefined || found.length > 0;

  useEffect(() => {
    if (loadError) return;
    let isUnmounted = false;
    let made: Editor | undefined;
    async function load() {
      const { createEditor } = await import('./create-editor.ts');
      if (isUnmounted || !host.current) return;
      const { value, placeholder = '', onChange } = latest.current;
      made = await createEditor(host.current, {
        ...{ language, value, placeholder, isReadOnly: !onChange },
        attributes: {
          'aria-labelledby': `${id}-label`,
          'aria-describedby': `${id}-help ${id}-error`,
          'aria-multiline': 'true',
        },
        onChange: (text) => {
          setTyped(true);
          latest.current.onChange?.(text);
        },
        onProblems: setFound,
      });
      if (isUnmounted) made.destroy();
      else setEditor(made);
    }
    load().catch(() => setLoadError(new Error(`The editor could not be loaded. ${NOT_LOADED_ADVICE}`)));
    return () => {
      isUnmounted = true;
      made?.destroy();
      setEditor(undefined);
    };
  }, [language, id, loadError]);
  useEffect(() => editor?.setValue(value), [editor, value]);
  useEffect(() => editor?.setProblems(problems), [editor, problems]);
  useEffect(() => editor?.setScope(scope), [editor, scope]);
  useEffect(() => editor?.setInvalid(isInvalid), [editor, isInvalid]);
  useEffect(() => editor?.setReadOnly(!onChange), [editor, onChange]);

  const hasTabs = language === 'javascript' || language.startsWith('json');
  /** Escape closes the editor's own lists and frees Tab; it must not close a dialog or panel around the editor. */
  function keepEscape(event: KeyboardEvent) {
    if (event.key === 'Escape' && (event.defaultPrevented || (hasTabs && onChange))) event.stopPropagation();
  }
  const height = { '--least': least, '--most': most } as React.CSSProperties;
  return (
    <div className={field.field}>
      <span id={`${id}-label`} className={props.hideLabel ? 'visually-hidden' : (field.label as string)}>
        {label}
      </span>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: hides the editor's keys from outer elements */}
      <div
        ref={host}
        onKeyDown={keepEscape}
        className={classes(style.editor, error !== undefined && style.invalid, !onChange && style.readOnly)}
        style={height}
      >
        {!editor && !loadError && (
          <pre className={style.waiting}>{value.slice(0, WAITING_MAX_CHARS) || ' '}</pre>
        )}
        {loadError && (
          <textarea
            aria-labelledby={`${id}-label`}
            className={style.plain}
            rows={least}
            value={value}
            readOnly={!onChange}
            onChange={(event) => onChange?.(event.target.value)}
          />
        )}
      </div>
      {loadError && <ErrorNote error={loadError} onRetry={() => setLoadError(undefined)} />}
      <div id={`${id}-help`} className={classes(field.help, style.note)}>
        {help}
        {hasTabs && onChange && (
          <span className={style.hint}>Tab indents. Press Escape, then Tab, to leave the editor.</span>
        )}
      </div>
      <div id={`${id}-error`} className={classes(field.error, style.note)}>
        {error}
      </div>
      <div className="visually-hidden" role="status">
        {isTyped && announced}
      </div>
    </div>
  );
}

/** Returns the text after `ms` milliseconds without a change. */
function useDebounced(text: string, ms: number): string {
  const [debounced, setDebounced] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(text), ms);
    return () => clearTimeout(timer);
  }, [text, ms]);
  return debounced;
}

/** Shows the differences of two texts, side by side where there is room, otherwise inline. */
export function CodeDifference({ label, before, after, language = 'text' }: DifferenceProps) {
  const host = useRef<HTMLDivElement>(null);
  const id = useId();
  const [error, setError] = useState<Error>();
  useEffect(() => {
    if (error) return;
    let isUnmounted = false;
    let destroy: (() => void) | undefined;
    import('./create-difference.ts').then(
      ({ createDifference }) => {
        if (!isUnmounted && host.current)
          destroy = createDifference(host.current, { before, after, language, label });
      },
      () => setError(new Error(`The difference could not be loaded. ${NOT_LOADED_ADVICE}`)),
    );
    return () => {
      isUnmounted = true;
      destroy?.();
    };
  }, [before, after, language, label, error]);
  return (
    <section aria-labelledby={id} className={style.difference}>
      <span id={id} className="visually-hidden">
        {label}
      </span>
      {error && <ErrorNote error={error} onRetry={() => setError(undefined)} />}
      <div ref={host} />
    </section>
  );
}
