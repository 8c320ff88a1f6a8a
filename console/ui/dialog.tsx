import { useMutation } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { type ReactNode, type RefObject, useEffect, useRef } from 'react';
import { Dialog as AriaDialog, Form, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { otherError } from '../api/api-error.ts';
import { Button, IconButton } from './button.tsx';
import { ErrorNote } from './feedback.tsx';
import style from './overlay.module.css';
import page from './page.module.css';
import { showToast } from './toast.tsx';
import { ReturnFocus } from './use-return-focus.ts';

type FormDialogProps = {
  title: string;
  /** The verb of the button, such as `Create project`. */
  action: string;
  isOpen: boolean;
  onClose: () => void;
  onSubmit: () => void;
  /** The mutation that `onSubmit` starts; it has `meta: { quiet: true }`. */
  change: { error: Error | null; isPending: boolean };
  /** The fields that show their own errors (`fieldError`). */
  fields?: readonly string[];
  isReady?: boolean;
  /** The label of the other button; `Cancel` by default. */
  cancelLabel?: string;
  /** See `Dialog`. */
  awaitsAnswer?: boolean;
  /** CSS length; see `Dialog`. */
  width?: string;
  children: ReactNode;
};

type ConfirmDialogProps = {
  title: string;
  /** The verb of the button, such as `Revoke`. */
  action: string;
  /** The label of the other button; `Cancel` by default. */
  cancelLabel?: string;
  isOpen: boolean;
  onClose: () => void;
  /** Performs the action. The dialog closes on success, and shows the error otherwise. */
  onConfirm: () => Promise<unknown>;
  children: ReactNode;
};

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

/**
 * Discards the second click of a double click that opened a dialog. It would press whatever is under the pointer, or
 * close the dialog.
 */
function useSingleClick(isOpen: boolean): void {
  useEffect(() => {
    if (!isOpen) return;
    function onClick(event: MouseEvent) {
      if (event.detail <= 1) return stop();
      event.preventDefault();
      event.stopImmediatePropagation();
      // React Aria synthesizes a click for a press that ends without one.
      document.dispatchEvent(new PointerEvent('pointercancel'));
    }
    const stop = () => window.removeEventListener('click', onClick, true);
    window.addEventListener('click', onClick, true);
    return stop;
  }, [isOpen]);
}

/** Whether the component is still mounted when a late response comes. A closed form must not navigate. */
export function useIsMounted(): RefObject<boolean> {
  const isMounted = useRef(true);
  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
    };
  }, []);
  return isMounted;
}

/** Asks before an action that cannot be undone. */
export function ConfirmDialog({
  title,
  action,
  cancelLabel = 'Cancel',
  isOpen,
  onClose,
  onConfirm,
  children,
}: ConfirmDialogProps) {
  const confirm = useMutation({ mutationFn: onConfirm, meta: { quiet: true } });
  function close() {
    // The dialog may open again for something else.
    confirm.reset();
    onClose();
  }
  return (
    <Dialog title={title} isOpen={isOpen} onClose={close} isPending={confirm.isPending}>
      <ReturnFocus />
      <div>{children}</div>
      {confirm.error && <ErrorNote error={confirm.error} />}
      <DialogActions>
        <Button slot="close">{cancelLabel}</Button>
        <Button
          variant="danger"
          isPending={confirm.isPending}
          // Not passed to `useMutation`: a closed dialog may be open again for something else.
          onPress={() => confirm.mutate(undefined, { onSuccess: onClose })}
        >
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

/** A dialog with a form. It stays open when the service refuses, and shows the error. */
export function FormDialog(props: FormDialogProps) {
  const {
    title,
    action,
    isOpen,
    onClose,
    onSubmit,
    change,
    fields = [],
    isReady = true,
    cancelLabel = 'Cancel',
    awaitsAnswer = false,
    width,
    children,
  } = props;
  const error = otherError(change.error, fields);
  return (
    <Dialog
      title={title}
      isOpen={isOpen}
      isForm
      onClose={onClose}
      isPending={change.isPending}
      awaitsAnswer={awaitsAnswer}
      {...(width !== undefined && { width })}
    >
      <ReturnFocus />
      <Form
        className={page.stack}
        validationBehavior="aria"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !change.isPending) onSubmit();
        }}
      >
        {children}
        {error && <ErrorNote error={error} />}
        <DialogActions>
          <Button slot="close" isDisabled={awaitsAnswer && change.isPending}>
            {cancelLabel}
          </Button>
          <Button type="submit" variant="primary" isPending={change.isPending} isDisabled={!isReady}>
            {action}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
