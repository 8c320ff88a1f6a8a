import { useMutation, useQuery } from '@tanstack/react-query';
import { RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { formatCount } from '../../ui/format.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { Loading } from '../../ui/loading.tsx';
import { countFailed, FAILED_COUNT_MAX, type RetryResult, retryFailed } from './retry-failed.ts';
import { RetryResultView } from './retry-result.tsx';
import { type RunFilter, whyNotRetried } from './run-filter.ts';

type Props = { projectId: string; filter: RunFilter; onDone: () => void };

/** Retries the failed runs that the filter finds: says how many there are, asks, and tells what came of it. */
export function RetryRuns(props: Props) {
  const [isOpen, setOpen] = useState(false);
  const why = whyNotRetried(props.filter);
  if (why)
    return (
      <IconButton label={`Retry failed runs. ${why}`} variant="secondary" onPress={() => setOpen(true)}>
        <RotateCcw size={14} />
        {isOpen && (
          <Dialog title="Retry failed runs" isOpen onClose={() => setOpen(false)}>
            <p>{why}</p>
          </Dialog>
        )}
      </IconButton>
    );
  return (
    <>
      <Button onPress={() => setOpen(true)}>
        <RotateCcw size={14} aria-hidden /> Retry failed …
      </Button>
      {isOpen && <RetryDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function RetryDialog({ projectId, filter, onDone, onClose }: Props & { onClose: () => void }) {
  const [progress, setProgress] = useState<RetryResult>();
  // One moment for the count and for what is done about it.
  const [now] = useState(Date.now);
  const count = useQuery({
    queryKey: ['failed-runs', projectId, filter, now],
    queryFn: ({ signal }) => countFailed(projectId, filter, now, signal),
    gcTime: 0,
  });
  const retry = useMutation({
    mutationFn: () => retryFailed(projectId, filter, now, setProgress),
    onSettled: onDone,
    meta: { quiet: true },
  });
  const failed = count.data ?? 0;
  return (
    <Dialog title="Retry failed runs" isOpen onClose={onClose} isPending={retry.isPending}>
      {count.isPending && <Loading label="Counting the failed runs …" />}
      {count.error && <ErrorNote error={count.error} onRetry={() => void count.refetch()} />}
      {count.data !== undefined && !progress && !retry.isPending && !retry.error && (
        <p>
          {failed === 0
            ? 'These filters find no failed run.'
            : `These filters find ${failed >= FAILED_COUNT_MAX ? `at least ${formatCount(failed)}` : formatCount(failed)} failed ${failed === 1 ? 'run' : 'runs'}. Each is run again as a new job, from the step that failed; only what is repeated is charged. Runs that were cancelled, that had been run again before, or that repeat another run are passed over.`}
        </p>
      )}
      {(progress || retry.isPending) && <RetryResultView result={progress} isRunning={retry.isPending} />}
      {retry.error && <ErrorNote error={retry.error} />}
      <DialogActions>
        <Button onPress={onClose} isDisabled={retry.isPending}>
          {progress || failed === 0 ? 'Close' : 'Cancel'}
        </Button>
        {!retry.isSuccess && failed > 0 && (
          <Button variant="primary" isPending={retry.isPending} onPress={() => retry.mutate()}>
            {retry.isPending ? 'Retrying …' : 'Retry them'}
          </Button>
        )}
      </DialogActions>
    </Dialog>
  );
}
