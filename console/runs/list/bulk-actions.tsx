import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { RotateCcw, Square } from 'lucide-react';
import { useRef, useState } from 'react';
import { api, refetch, type Schemas } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions, useIsMounted } from '../../ui/dialog.tsx';
import { ErrorNote, Loading } from '../../ui/feedback.tsx';
import { Select } from '../../ui/fields/select.tsx';
import { formatCount } from '../../ui/format.ts';
import { showToast } from '../../ui/toast.tsx';
import { BULK_RETRIES, useContinueBulkRetry } from '../bulk/bulk-retry.ts';
import { countReasons } from '../run.ts';
import { findBulkObstacle, type RunFilter, runQuery } from '../search.ts';

type Bulk = 'retry' | 'cancel';

/**
 * The result so far: how many runs were changed, and which were skipped. `bulk`: the bulk retry that has begun, and where it
 * continues.
 */
type BulkResult = Pick<Schemas['RetriedRuns'], 'refused'> & {
  done: number;
  bulk?: { bulkId: string; cursor: string | null };
};

type OnVersion = 'original' | 'production';
/** The project, the filter and the time of the request: later runs are not affected. */
type BulkRequest = { projectId: string; filter: RunFilter; now: number; onVersion: OnVersion };

/** Small enough for a page to be carried out well within a request's time limit. */
const PAGE = 50;
const COUNTED_PAGE = 100;

const COUNT_MAX = 1_000;

type Page = { dryRun: boolean; limit: number; cursor: string | null | undefined };

type BulkDialogProps = {
  how: Bulk;
  title: string;
  projectId: string;
  filter: RunFilter;
  production?: number | null | undefined;
  onDone: () => void;
  onClose: () => void;
};

const NOTHING_YET: BulkResult = { done: 0, refused: [] };

const WORDS = {
  retry: {
    none: 'These filters find no run that can be retried at once.',
    found: (runs: string) => `These filters find ${runs} to retry.`,
    consequence:
      'Each is run again as a new job from the step that failed, or from the first step that the version has changed; only these are charged. Of a run that was run again since, the newest attempt is retried if it has failed. Cancelled runs are skipped, unless you filter by Cancelled.',
    action: 'Retry',
    pending: 'Retrying …',
    cancelLabel: 'Cancel',
  },
  cancel: {
    none: 'These filters find no run that can be cancelled.',
    found: (runs: string) => `These filters find ${runs} to cancel.`,
    consequence:
      'Each ends as cancelled within seconds. Nothing more is charged; completed blocks stay charged.',
    action: 'Cancel',
    pending: 'Cancelling …',
    cancelLabel: 'Keep them',
  },
};

type BulkActionsProps = {
  projectId: string;
  filter: RunFilter;
  /** The production version of the flow that the filter names; null when it has none. */
  production?: number | null | undefined;
  onDone: () => void;
};

const LABELS = {
  retry: { label: 'Retry failed', title: 'Retry failed runs', icon: RotateCcw },
  cancel: { label: 'Cancel all matching', title: 'Cancel all matching runs', icon: Square },
};

/** The buttons that cancel or retry all runs that match the filter. */
export function BulkActions(props: BulkActionsProps) {
  return (
    <>
      <BulkAction how="cancel" {...props} />
      <BulkAction how="retry" {...props} />
    </>
  );
}

type BulkActionProps = BulkActionsProps & {
  how: Bulk;
  /** Short, without an icon: for a row of a table. Names the runs. */
  of?: string;
};

/** Opens the dialog, or says why the filter does not allow it. */
export function BulkAction({ how, of, ...props }: BulkActionProps) {
  const [isOpen, setOpen] = useState(false);
  const { label, title, icon: Icon } = LABELS[how];
  const obstacle = findBulkObstacle(how, props.filter);
  const close = () => setOpen(false);
  return (
    <>
      {of === undefined ? (
        <Button onPress={() => setOpen(true)}>
          <Icon size={14} aria-hidden /> {label} …
        </Button>
      ) : (
        <Button size="small" aria-label={`Retry these runs: ${of}`} onPress={() => setOpen(true)}>
          Retry …
        </Button>
      )}
      {isOpen &&
        (obstacle ? (
          <Dialog title={title} isOpen onClose={close}>
            <p>{obstacle}</p>
          </Dialog>
        ) : (
          <BulkDialog how={how} title={title} {...props} onClose={close} />
        ))}
    </>
  );
}

/** Retries or cancels the runs that match the filter: counts them, asks, and reports the result. */
function BulkDialog({ how, title, projectId, filter, production, onDone, onClose }: BulkDialogProps) {
  const [progress, setProgress] = useState<BulkResult>();
  /** Read after the dialog is closed, too. */
  const latest = useRef(NOTHING_YET);
  const isMounted = useIsMounted();
  // The count and the change use the same time.
  const [now] = useState(Date.now);
  const [onVersion, setOnVersion] = useState<OnVersion>(production === null ? 'original' : 'production');
  const request = { projectId, filter, now, onVersion };
  const count = useQuery({
    queryKey: ['bulk-runs', how, projectId, filter, now],
    queryFn: ({ signal }) => countMatching(how, request, signal),
    gcTime: 0,
  });
  const navigate = useNavigate();
  const { org = '', project = '' } = useParams({ strict: false });
  const further = useContinueBulkRetry();
  const change = useMutation({
    mutationFn: () =>
      changeRuns(how, request, (result) => {
        latest.current = result;
        setProgress(result);
      }),
    onSettled(result, error) {
      onDone();
      const bulk = result?.bulk;
      if (bulk) followBulk(bulk);
      if (isMounted.current || bulk?.cursor) return;
      const counts = describeCounts(how, latest.current);
      showToast(
        error
          ? { tone: 'bad', title: `“${title}” has ended early: ${counts}.` }
          : { tone: 'good', title: `“${title}” has ended: ${counts}.` },
      );
    },
    meta: { quiet: true },
  });
  /** Sends the further requests of a bulk retry, and opens its page; after the dialog was closed, only names it. */
  function followBulk({ bulkId, cursor }: NonNullable<BulkResult['bulk']>) {
    if (cursor !== null) further.mutate({ projectId, bulkId, request: bodyOf('retry', request), cursor });
    void refetch(BULK_RETRIES);
    if (isMounted.current)
      void navigate({
        to: '/orgs/$org/projects/$project/bulk-retries/$bulkId',
        params: { org, project, bulkId },
      });
    else if (cursor !== null) showToast({ tone: 'good', title: `“${title}” goes on: see Bulk retries.` });
  }
  const found = count.data ?? 0;
  const productionLabel =
    production === undefined ? 'The version in production' : `v${production} · in production`;
  const words = WORDS[how];
  const runs = `${found >= COUNT_MAX ? 'at least ' : ''}${formatCount(found)} ${found === 1 ? 'run' : 'runs'}`;
  return (
    <Dialog title={title} isOpen onClose={onClose} isPending={change.isPending}>
      {count.isPending && <Loading label="Counting the runs …" />}
      {count.error && <ErrorNote error={count.error} onRetry={() => void count.refetch()} />}
      {count.data !== undefined && change.isIdle && (
        <p>{found === 0 ? words.none : `${words.found(runs)} ${words.consequence}`}</p>
      )}
      {how === 'retry' && found > 0 && change.isIdle && production !== null && (
        <Select
          label="Version"
          value={onVersion}
          onChange={setOnVersion}
          options={[
            { id: 'production', label: productionLabel },
            { id: 'original', label: 'The version of each failed run' },
          ]}
        />
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

/** Describes how many runs were retried or cancelled. */
function describeCounts(how: Bulk, { done, refused }: BulkResult): string {
  return how === 'retry'
    ? `${formatCount(done)} retried, ${formatCount(refused.length)} skipped`
    : `${formatCount(done)} ${done === 1 ? 'run is' : 'runs are'} being cancelled`;
}

/** Shows how many runs were retried or cancelled, and why others were not. */
function BulkResultView({ how, result, isRunning }: { how: Bulk; result: BulkResult; isRunning: boolean }) {
  const reasons = countReasons(result.refused);
  return (
    <div role="status">
      <p>
        {describeCounts(how, result)}
        {isRunning ? ' so far …' : '.'}
      </p>
      <ul>
        {reasons.map(([reason, count]) => (
          <li key={reason}>
            {formatCount(count)} × {reason}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Counts the runs that would be retried or cancelled, up to COUNT_MAX. */
async function countMatching(how: Bulk, request: BulkRequest, signal: AbortSignal): Promise<number> {
  let count = 0;
  let cursor: string | null | undefined;
  do {
    const page = await send(how, request, { dryRun: true, limit: COUNTED_PAGE, cursor }, signal);
    count += page.matching?.length ?? 0;
    cursor = page.nextCursor;
  } while (cursor && count < COUNT_MAX);
  return count;
}

/**
 * Cancels all matching runs, page by page, or retries them until a bulk retry has begun; `onProgress` gets the result so far.
 * When no further run is accepted, the request for the next page fails with the reason.
 */
async function changeRuns(
  how: Bulk,
  request: BulkRequest,
  onProgress: (result: BulkResult) => void,
): Promise<BulkResult> {
  const result: BulkResult = { done: 0, refused: [] };
  let cursor: string | null | undefined;
  do {
    const page = await send(how, request, { dryRun: false, limit: PAGE, cursor });
    if ('cancelled' in page) result.done += page.cancelled.length;
    else {
      result.done += page.retried.length;
      result.refused.push(...page.refused);
      onProgress({ ...result });
      if (page.bulk_id) return { ...result, bulk: { bulkId: page.bulk_id, cursor: page.nextCursor } };
    }
    cursor = page.nextCursor;
    onProgress({ ...result });
  } while (cursor);
  return result;
}

async function send(
  how: Bulk,
  request: BulkRequest,
  { cursor, ...page }: Page,
  signal?: AbortSignal,
): Promise<Schemas['RetriedRuns'] | Schemas['CancelledRuns']> {
  const body = { ...bodyOf(how, request), ...page, ...(cursor && { cursor }) };
  const { data } = await api.POST(`/api/v1/projects/{project_id}/runs/${how}`, {
    params: { path: { project_id: request.projectId } },
    body,
    ...(signal && { signal }),
  });
  return data as NonNullable<typeof data>;
}

/** Returns the fields of a request that all its pages have. */
function bodyOf(how: Bulk, { filter, now, onVersion }: BulkRequest) {
  const { flow, version, mode, environment, key, status, outcome, since, until, error_group } = runQuery(
    filter,
    now,
  );
  return {
    ...{ flow, version, mode, environment, key, since, until: until ?? new Date(now).toISOString() },
    ...(how === 'cancel'
      ? { status }
      : { outcome: outcome as Schemas['RetryRunsRequest']['outcome'], error_group, on_version: onVersion }),
  };
}
