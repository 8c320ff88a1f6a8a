import { useRouterState } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';

/** Says the title of a page that was gone to, and moves the focus to it when what had the focus has gone. */
export function PageChange() {
  const path = useRouterState({ select: (state) => state.resolvedLocation?.pathname });
  const [title, setTitle] = useState('');
  const shown = useRef(path);
  useEffect(() => {
    if (path === undefined || shown.current === path) return;
    const isFirst = shown.current === undefined;
    shown.current = path;
    if (isFirst) return;
    // The page is there in the next frame, and a dialog or drawer that closes has given back the focus by then.
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
    // A title that is still awaited follows: pages are named after what they show.
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
