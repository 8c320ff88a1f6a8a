import { useRouterState } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';

/** Announces the title of a new page, and moves the focus to the page when the focused element is gone. */
export function PageChange() {
  const path = useRouterState({ select: (state) => state.resolvedLocation?.pathname });
  const [title, setTitle] = useState('');
  const shown = useRef(path);
  useEffect(() => {
    if (path === undefined || shown.current === path) return;
    const isFirst = shown.current === undefined;
    shown.current = path;
    if (isFirst) return;
    // The page is rendered in the next frame, after a closing dialog or drawer has restored the focus.
    let frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(() => {
        if (document.activeElement === document.body) document.getElementById('main')?.focus();
      });
    });
    return () => cancelAnimationFrame(frame);
  }, [path]);
  useEffect(() => {
    const element = document.querySelector('title');
    if (!element) return;
    // The title may follow later, because pages are named after their data.
    const observer = new MutationObserver(() => setTitle(document.title));
    observer.observe(element, { childList: true, characterData: true, subtree: true });
    return () => observer.disconnect();
  }, []);
  return (
    <p className="visually-hidden" role="status">
      {title}
    </p>
  );
}
