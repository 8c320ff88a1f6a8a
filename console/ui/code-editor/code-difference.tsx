import { useEffect, useId, useRef, useState } from 'react';
import { ErrorNote } from '../error-note.tsx';
import { NOT_LOADED_ADVICE } from '../not-loaded-advice.ts';
import style from './code-editor.module.css';
import type { DifferenceLanguage } from './create-difference.ts';

type DifferenceProps = {
  /** Names the two texts, such as `Version 2 and draft`. */
  label: string;
  before: string;
  after: string;
  language?: DifferenceLanguage;
};

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
