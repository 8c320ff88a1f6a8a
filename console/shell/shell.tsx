import { Outlet, useParams, useRouterState } from '@tanstack/react-router';
import { Menu as MenuIcon } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { Dialog, Modal, ModalOverlay } from 'react-aria-components';
import { IconButton } from '../ui/button.tsx';
import overlay from '../ui/overlay.module.css';
import { Toasts } from '../ui/toast.tsx';
import { rememberProject } from './last-project.ts';
import { Mark } from './mark.tsx';
import { Navigation } from './navigation.tsx';
import { Palette } from './palette.tsx';
import style from './shell.module.css';

/** The frame of every page: navigation at the side, or behind a button on narrow windows. */
export function Shell() {
  const { org, project } = useParams({ strict: false });
  const address = useRouterState({ select: (state) => state.location.href });
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    if (org && project) rememberProject(org, project);
  }, [org, project]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page closes the navigation
  useEffect(() => setOpen(false), [address]);
  return (
    <div className={style.shell}>
      <a className={style.skip} href="#main">
        Skip to the page
      </a>
      <div className={style.bar}>
        <IconButton label="Navigation" onPress={() => setOpen(true)}>
          <MenuIcon size={18} />
        </IconButton>
        <Mark size={20} />
      </div>
      <ModalOverlay className={overlay.drawerOverlay} isDismissable isOpen={isOpen} onOpenChange={setOpen}>
        <Modal className={overlay.drawer}>
          <Dialog aria-label="Navigation">
            <Navigation />
          </Dialog>
        </Modal>
      </ModalOverlay>
      <aside className={style.side}>
        <Navigation />
      </aside>
      <main id="main" tabIndex={-1} className={style.main}>
        <Outlet />
      </main>
      <Toasts />
      <Palette />
      <PageChange />
    </div>
  );
}

/** Announces the title of a new page, and moves the focus to the page when the focused element is gone. */
function PageChange() {
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
