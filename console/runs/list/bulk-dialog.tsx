import { useMutation, useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { formatCount } from '../../ui/format.ts';
import { Loading } from '../../ui/loading.tsx';
import { showToast } from '../../ui/toast.tsx';
import { useIsMounted } from '../../ui/use-is-shown.ts';
import { BulkResultView, describeCounts } from './bulk-result.tsx';
import { type Bulk, type BulkResult, COUNT_MAX, changeRuns, countMatching } from './bulk-runs.ts';
import type { RunFilter } from './run-filter.ts';

type BulkDialogProps = {
  how: Bulk;
  title: string;
  projectId: string;
  filter: RunFilter;
  onDone: () => void;
  onClose: () => void;
};

const NOTHING_YET: BulkResult = { done: 0, refused: [] };

const WORDS = {
  retry: {
    none: 'These filters find no failed run that can be retried at once.',
    found: (runs: string) => `These filters find ${runs} to retry.`,
    consequence:
      'Each is run again as a new job from the step that failed; only repeated blocks are charged. Runs that were cancelled, were already run again, or repeat another run are skipped.',
    action: 'Retry',
    pending: 'Retrying …',
    cancelLabel: 'Cancel',
  },
  cancel: {
    none: 'These filters find no run that can be cancelled.',
    found: (runs: string) => `These filters find ${runs} to cancel.`,
    consequence:
      'Each ends as failed within seconds and cannot continue. Nothing more is charged; completed blocks stay charged.',
    action: 'Cancel',
    pending: 'Cancelling …',
    cancelLabel: 'Keep them',
  },
};

/** Retries or cancels the runs that match the filter: counts them, asks, and reports the result. */
export function BulkDialog({ how, title, projectId, filter, onDone, onClose }: BulkDialogProps) {
  const [progress, setProgress] = useState<BulkResult>();
  /** Read after the dialog is closed, too. */
  const latest = useRef(NOTHING_YET);
  const isMounted = useIsMounted();
  // The count and the change use the same time.
  const [now] = useState(Date.now);
  const request = { projectId, filter, now };
  const count = useQuery({
    queryKey: ['bulk-runs', how, request],
    queryFn: ({ signal }) => countMatching(how, request, signal),
    gcTime: 0,
  });
  const change = useMutation({
    mutationFn: () =>
      changeRuns(how, request, (result) => {
        latest.current = result;
        setProgress(result);
      }),
    onSettled(_result, error) {
      onDone();
      if (isMounted.current) return;
      const counts = describeCounts(how, latest.current);
      showToast(
        error
          ? { tone: 'bad', title: `“${title}” has ended early: ${counts}.` }
          : { tone: 'good', title: `“${title}” has ended: ${counts}.` },
      );
    },
    meta: { quiet: true },
  });
  const found = count.data ?? 0;
  const words = WORDS[how];
  const runs = `${found >= COUNT_MAX ? 'at least ' : ''}${formatCount(found)} ${found === 1 ? 'run' : 'runs'}`;
  return (
    <Dialog title={title} isOpen onClose={onClose} isPending={change.isPending}>
      {count.isPending && <Loading label="Counting the runs …" />}
      {count.error && <ErrorNote error={count.error} onRetry={() => void count.refetch()} />}
      {count.data !== undefined && change.isIdle && (
        <p>{found === 0 ? words.none : `${words.found(runs)} ${words.consequence}`}</p>
      )}
      {(progress || change.isPending) && (
        <BulkResultView how={how} result={progress ?? NOTHING_YET} isRunning={change.isPending} />
      )}
      {change.error && <ErrorNote error={change.error} />}
      <DialogActions>
        <Button slot="close">{progress || found === 0 ? 'Close' : words.cancelLabel}</Button>
        {!change.isSuccess && found > 0 && (
          <Button
            variant={how === 'cancel' ? 'danger' : 'primary'}
            isPending={change.isPending}
            onPress={() => change.mutate()}
          >
            {change.isPending ? words.pending : `${words.action} ${runs}`}
          </Button>
        )}
      </DialogActions>
    </Dialog>
  );
}
