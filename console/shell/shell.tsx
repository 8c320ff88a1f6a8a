import { Outlet, useParams, useRouterState } from '@tanstack/react-router';
import { Menu as MenuIcon } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Dialog, Modal, ModalOverlay } from 'react-aria-components';
import { IconButton } from '../ui/icon-button.tsx';
import { Mark } from '../ui/mark.tsx';
import overlay from '../ui/overlay.module.css';
import { Toasts } from '../ui/toast.tsx';
import { rememberProject } from './last-project.ts';
import { Navigation } from './navigation.tsx';
import { PageChange } from './page-change.tsx';
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
      <PageChange />
    </div>
  );
}
