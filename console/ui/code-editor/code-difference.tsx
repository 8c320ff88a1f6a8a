import { useEffect, useId, useRef } from 'react';
import style from './code-difference.module.css';
import type { DifferenceLanguage } from './create-difference.ts';

type Props = {
  /** Names what is compared, such as `Version 2 and draft`. */
  label: string;
  before: string;
  after: string;
  language?: DifferenceLanguage;
};

/** Shows two texts as a difference, to read: beside each other, or below each other where there is little room. */
export function CodeDifference({ label, before, after, language = 'text' }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => {
    let isGone = false;
    let destroy: (() => void) | undefined;
    void import('./create-difference.ts').then(({ createDifference }) => {
      if (!isGone && host.current)
        destroy = createDifference(host.current, { before, after, language, label });
    });
    return () => {
      isGone = true;
      destroy?.();
    };
  }, [before, after, language, label]);
  return (
    <section aria-labelledby={id} className={style.difference}>
      <span id={id} className="visually-hidden">
        {label}
      </span>
      <div ref={host} />
    </section>
  );
}
