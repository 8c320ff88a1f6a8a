import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { IconButton } from './icon-button.tsx';
import style from './overlay.module.css';

type Props = {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  /** CSS length; 30rem unless told. */
  width?: string;
  /** A dialog whose content is shown once is not closed by Escape or a click beside it. */
  isDismissable?: boolean;
  /** While its work is under way, a dialog stays: what that answers may be shown this once. */
  isPending?: boolean;
  children: ReactNode;
};

/** A dialog over the page. The last child is mostly `<DialogActions>`. */
export function Dialog(props: Props) {
  const { title, isOpen, onClose, width, isDismissable = true, isPending = false, children } = props;
  return (
    <ModalOverlay
      className={style.overlay}
      isOpen={isOpen}
      isDismissable={isDismissable && !isPending}
      isKeyboardDismissDisabled={!isDismissable || isPending}
      onOpenChange={(open) => !open && onClose()}
    >
      <Modal
        className={style.modal}
        style={width ? ({ '--dialog-width': width } as React.CSSProperties) : {}}
      >
        <AriaDialog className={style.dialog}>
          <div className={style.dialogHead}>
            <Heading slot="title" level={2}>
              {title}
            </Heading>
            <IconButton label="Close" size="small" isDisabled={isPending} onPress={onClose}>
              <X size={16} />
            </IconButton>
          </div>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

/** The buttons at the end of a dialog; the primary one comes last. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className={style.actions}>{children}</div>;
}
