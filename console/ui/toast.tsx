import { CircleAlert, CircleCheck, X } from 'lucide-react';
import {
  UNSTABLE_Toast as AriaToast,
  Text,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastQueue as ToastQueue,
  UNSTABLE_ToastRegion as ToastRegion,
} from 'react-aria-components';
import { ApiError } from '../api/api-error.ts';
import { Button, IconButton } from './button.tsx';
import { classes } from './classes.ts';
import style from './toast.module.css';

type Toast = {
  tone: 'good' | 'bad';
  title: string;
  error?: Error;
  /** A button, such as undo. */
  action?: { label: string; onPress: () => void };
};

const SHOWN_MS = 6_000;
const queue = new ToastQueue<Toast>({ maxVisibleToasts: 3 });

/** Shows a message in a corner of the page; errors stay until they are closed. */
export function showToast(toast: Toast): void {
  queue.add(toast, toast.tone === 'good' ? { timeout: SHOWN_MS } : {});
}

/** The place of toasts, once in the shell. */
export function Toasts() {
  return (
    <ToastRegion queue={queue} className={style.region}>
      {({ toast }) => (
        <AriaToast toast={toast} className={classes(style.toast, style[toast.content.tone])}>
          {toast.content.tone === 'good' ? <CircleCheck size={16} /> : <CircleAlert size={16} />}
          <ToastContent>
            <Text slot="title">{toast.content.title}</Text>
            {toast.content.error instanceof ApiError && toast.content.error.requestId && (
              <Text slot="description" className={style.faint}>
                Request {toast.content.error.requestId}
              </Text>
            )}
          </ToastContent>
          {toast.content.action && (
            <Button
              size="small"
              onPress={() => {
                toast.content.action?.onPress();
                queue.close(toast.key);
              }}
            >
              {toast.content.action.label}
            </Button>
          )}
          <IconButton slot="close" label="Close" size="small">
            <X size={14} />
          </IconButton>
        </AriaToast>
      )}
    </ToastRegion>
  );
}
