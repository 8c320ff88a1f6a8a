import { type ReactNode, useEffect, useRef, useState } from 'react';
import style from './page.module.css';

/** Scrolls horizontally; a tab stop only when its content is wider. */
export function ScrollBox({ label, children }: { label: string; children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const [isWide, setWide] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => setWide(element.scrollWidth > element.clientWidth);
    const resized = new ResizeObserver(measure);
    const changed = new MutationObserver(measure);
    resized.observe(element);
    changed.observe(element, { childList: true, subtree: true, characterData: true });
    measure();
    return () => {
      resized.disconnect();
      changed.disconnect();
    };
  }, []);
  return (
    <div
      ref={box}
      className={style.flush}
      {...(isWide && { tabIndex: 0, role: 'region', 'aria-label': label })}
    >
      {children}
    </div>
  );
}
