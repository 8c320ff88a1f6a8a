import { CircleAlert } from 'lucide-react';
import { ApiError } from '../api/api-error.ts';
import { Button } from './button.tsx';
import { classes } from './classes.ts';
import { CopyButton } from './copy-button.tsx';
import style from './note.module.css';

/** An error message with the request id of the service's log. */
export function ErrorNote({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const requestId = error instanceof ApiError ? error.requestId : undefined;
  return (
    <div role="alert" className={classes(style.note, style.bad)}>
      <CircleAlert size={16} aria-hidden />
      <div>
        <p>{error.message}</p>
        {requestId && (
          <p className={style.faint}>
            Request <code>{requestId}</code> <CopyButton text={requestId} label="Copy the request id" />
          </p>
        )}
      </div>
      {onRetry && (
        <Button size="small" onPress={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}
