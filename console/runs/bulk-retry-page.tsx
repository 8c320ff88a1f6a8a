import { getRouteApi } from '@tanstack/react-router';
import { Square } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import { $api, api, refetch, type Schemas } from '../api/client.ts';
import { refetchAfter } from '../api/query-options.ts';
import { useProject, useUserName } from '../shell/me.ts';
import { useActorName, useKeyNames } from '../shell/use-actor-name.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { EmptyState, ErrorNote, Loading, Note, QueryView } from '../ui/feedback.tsx';
import { formatCount, shortId } from '../ui/format.ts';
import { Fact, Facts, Page, Panel } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { ReturnFocus } from '../ui/use-return-focus.ts';
import style from './bulk/bulk.module.css';
import { BulkBadge, BulkCounts, BulkProgress } from './bulk/bulk-progress.tsx';
import {
  BULK_RETRIES,
  BULK_RETRY,
  describeFilter,
  describeVersion,
  stateOf,
  useContinueBulkRetry,
  useIsContinued,
} from './bulk/bulk-retry.ts';
import { RunTable } from './list/run-table.tsx';
import { useRuns } from './list/use-runs.ts';
import { countReasons } from './run.ts';

const route = getRouteApi('/orgs/$org/projects/$project/bulk-retries/$bulkId');
const REFRESH_MS = 2_000;

type BulkRetry = Schemas['BulkRetry'];

/** One bulk retry: its progress, its runs, and its cancellation. */
export function BulkRetryPage() {
  const { org, project: slug, bulkId } = route.useParams();
  const found = useProject({ org, project: slug });
  const { project } = found;
  const nameOfActor = useActorName(found);
  const path = { project_id: project.id, bulk_id: bulkId };
  const query = $api.useQuery(
    'get',
    BULK_RETRY,
    { params: { path } },
    { refetchInterval: (query) => refetchAfter(query, isOver(query.state.data) ? false : REFRESH_MS) },
  );
  const [isCancelling, setCancelling] = useState(false);
  const bulk = query.data;
  return (
    <Page
      title={`Bulk retry ${shortId(bulkId)}`}
      beside={bulk && <BulkBadge bulk={bulk} />}
      actions={
        <>
          <LinkButton to="/orgs/$org/projects/$project/bulk-retries" params={{ org, project: slug }}>
            All bulk retries
          </LinkButton>
          {bulk && !isOver(bulk) && !bulk.cancelledAt && (
            <>
              <ReturnFocus />
              <Button variant="danger" onPress={() => setCancelling(true)}>
                <Square size={13} aria-hidden /> Cancel
              </Button>
            </>
          )}
        </>
      }
    >
      <QueryView query={query}>
        {(bulk) => (
          <>
            <Panel>
              <BulkProgress bulk={bulk} />
              <BulkCounts bulk={bulk} />
              <Facts>
                <Fact name="Retried">{describeFilter(bulk)}</Fact>
                <Fact name="Version">{describeVersion(bulk)}</Fact>
                <Fact name="Started by">{nameOfActor(bulk.startedBy)}</Fact>
                <Fact name="Started">
                  <Time at={bulk.startedAt} />
                </Fact>
                {bulk.cancelledBy && (
                  <Fact name="Cancelled by">
                    {nameOfActor(bulk.cancelledBy)}, <Time at={bulk.cancelledAt} />
                  </Fact>
                )}
              </Facts>
              <Rest bulk={bulk} projectId={project.id} />
            </Panel>
            {bulk.refused > 0 && <Refusals bulk={bulk} />}
            <BulkRuns bulk={bulk} found={found} />
          </>
        )}
      </QueryView>
      <ConfirmDialog
        title="Cancel this bulk retry?"
        action="Cancel the bulk retry"
        cancelLabel="Keep it"
        isOpen={isCancelling}
        onClose={() => setCancelling(false)}
        onConfirm={async () => {
          await api.POST(`${BULK_RETRY}/cancel`, { params: { path } });
          await refetch(BULK_RETRY, BULK_RETRIES);
        }}
      >
        No further run starts, and the runs that have not ended are cancelled. Nothing more is charged;
        completed blocks stay charged.
      </ConfirmDialog>
    </Page>
  );
}

/** Whether nothing of a bulk retry is left to start or to end. */
function isOver(bulk: BulkRetry | undefined): boolean {
  return bulk !== undefined && ['cancelled', 'ended'].includes(stateOf(bulk));
}

/** Says which runs were not started, and continues with them. */
function Rest({ bulk, projectId }: { bulk: BulkRetry; projectId: string }) {
  const further = useContinueBulkRetry();
  const isContinued = useIsContinued(bulk.bulk_id);
  const { nextCursor, stoppedBy } = bulk;
  if (bulk.cancelledAt) return null;
  if (isContinued) return <Note>Further runs are being started. Keep this window open.</Note>;
  // One that stopped before its first run continues from the beginning.
  if (nextCursor === null && stoppedBy === null) return null;
  return (
    <Note tone="warn">
      <p>
        {stoppedBy
          ? `It stopped with ${stoppedBy}: remove the cause, then continue.`
          : 'Not all failed runs that match were started.'}
      </p>
      <Button
        size="small"
        onPress={() =>
          further.mutate({ projectId, bulkId: bulk.bulk_id, request: bulk.filter, cursor: nextCursor })
        }
      >
        Continue
      </Button>
    </Note>
  );
}

/** Says why runs were not retried. */
function Refusals({ bulk: { refusals, refused } }: { bulk: BulkRetry }) {
  return (
    <Panel title="Not retried">
      <ul>
        {countReasons(refusals).map(([reason, count]) => (
          <li key={reason}>
            {formatCount(count)} × {reason}
          </li>
        ))}
      </ul>
      {refused > refusals.length && <p>The reasons of the first {refusals.length} runs.</p>}
    </Panel>
  );
}

/** The new runs, each with its end and the run that it repeats. */
function BulkRuns({ bulk, found }: { bulk: BulkRetry; found: ReturnType<typeof useProject> }) {
  const organizationId = found.organization.id;
  const projectId = found.project.id;
  const nameOfUser = useUserName(organizationId);
  const keyNames = useKeyNames(found);
  const filter = useMemo(() => ({ bulk_id: bulk.bulk_id }), [bulk.bulk_id]);
  const { list, rows, fresh, showFresh } = useRuns({ organizationId, projectId }, filter);
  // The runs of a bulk retry are shown as they start.
  // biome-ignore lint/correctness/useExhaustiveDependencies: done once for each new run
  useEffect(() => {
    if (fresh.length > 0) void showFresh();
  }, [fresh.length]);
  if (list.error && !list.data) return <ErrorNote error={list.error} onRetry={() => void list.refetch()} />;
  if (list.isPending) return <Loading label="Loading runs …" />;
  if (rows.length === 0 && isOver(bulk)) return null;
  if (rows.length === 0)
    return <EmptyState title="No run has started" text="The runs appear here as they start." />;
  return (
    <div className={style.runs}>
      <RunTable rows={rows} keyNames={keyNames} nameOfUser={nameOfUser} filter={filter} list={list} />
    </div>
  );
}
