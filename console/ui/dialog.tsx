import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { IconButton } from './icon-button.tsx';
import style from './overlay.module.css';
import { showToast } from './toast.tsx';
import { useSingleClick } from './use-single-click.ts';

type Props = {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  /** CSS length; 30rem unless told. */
  width?: string;
  /** A dialog whose content is shown once is not closed by Escape or a click beside it. */
  isDismissable?: boolean;
  /** A click beside a dialog with a form does not close it, and what was typed stays. */
  isForm?: boolean;
  /** A dialog without a cross says with its buttons how it is left. */
  hasCross?: boolean;
  /** Its change is under way. A dialog that is closed meanwhile says that it may still be made. */
  isPending?: boolean;
  /** The dialog stays until its change is answered or given up, since the answer is shown once. */
  awaitsAnswer?: boolean;
  children: ReactNode;
};

/** A dialog over the page. The last child is mostly `<DialogActions>`. */
export function Dialog(props: Props) {
  const { title, isOpen, onClose, width, isDismissable = true, isPending = false } = props;
  const stays = isPending && props.awaitsAnswer === true;
  useSingleClick(isOpen);
  function close() {
    if (isPending)
      showToast({
        tone: 'good',
        title: `“${title}” was closed before the answer came: it may still be done.`,
      });
    onClose();
  }
  return (
    <ModalOverlay
      className={style.overlay}
      isOpen={isOpen}
      isDismissable={isDismissable && !stays}
      shouldCloseOnInteractOutside={() => props.isForm !== true}
      isKeyboardDismissDisabled={!isDismissable || stays}
      onOpenChange={(open) => !open && close()}
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
            {props.hasCross !== false && (
              <IconButton label="Close" size="small" isDisabled={stays} onPress={close}>
                <X size={16} />
              </IconButton>
            )}
          </div>
          {props.children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

/** The buttons at the end of a dialog; the primary one comes last. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className={style.actions}>{children}</div>;
}
