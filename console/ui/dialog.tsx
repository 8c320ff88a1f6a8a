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
  /** CSS length; 30rem by default. */
  width?: string;
  /** Whether Escape or a click outside closes the dialog; false for content that is shown only once. */
  isDismissable?: boolean;
  /** A click outside does not close a dialog with a form, so that typed text is kept. */
  isForm?: boolean;
  /** Whether there is a close button; without one, the dialog's own buttons close it. */
  hasCross?: boolean;
  /** Whether its change is in flight. Closing the dialog then warns that the change may still be made. */
  isPending?: boolean;
  /** Whether the dialog stays open while its change is in flight, because the response is shown only once. */
  awaitsAnswer?: boolean;
  children: ReactNode;
};

/** A modal dialog. Its last child is usually `<DialogActions>`. */
export function Dialog(props: Props) {
  const { title, isOpen, onClose, width, isDismissable = true, isPending = false } = props;
  const isLocked = isPending && props.awaitsAnswer === true;
  useSingleClick(isOpen);
  function close() {
    if (isPending)
      showToast({
        tone: 'good',
        title: `“${title}” was closed before the response came. The change may still be made.`,
      });
    onClose();
  }
  return (
    <ModalOverlay
      className={style.overlay}
      isOpen={isOpen}
      isDismissable={isDismissable && !isLocked}
      shouldCloseOnInteractOutside={() => props.isForm !== true}
      isKeyboardDismissDisabled={!isDismissable || isLocked}
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
              <IconButton label="Close" size="small" isDisabled={isLocked} onPress={close}>
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

/** The buttons of a dialog, the primary one last. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className={style.actions}>{children}</div>;
}
