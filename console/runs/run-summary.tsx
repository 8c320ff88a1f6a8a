import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Step } from '../flow/draft/steps.ts';
import { useProject, useUserName } from '../shell/me.ts';
import { useActorName, useKeyNames } from '../shell/use-actor-name.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { formatCount, formatCredits, formatDuration, shortId } from '../ui/format.ts';
import { Fact, Facts } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { MODE_NAMES, type Run, type RunPath, versionName } from './run.ts';
import style from './run-page.module.css';
import { failedInBlock } from './trace/executions.ts';
import type { Execution, Span } from './trace/spans.ts';

/** How many block executions are shown, and how to load more. */
export type MoreBlocks = { shown: number; isLoading: boolean; loadMore: () => void };

const REASONS: Record<string, string> = {
  credits_exhausted: 'The credits were used up.',
  byok_rejected: 'The provider rejected your own model key.',
};

/** Shows why and where a run failed. */
export function RunError({
  run,
  steps,
  executions,
  more,
  onChoose,
}: {
  run: Run;
  steps: Step[] | undefined;
  executions: readonly Execution[];
  more: MoreBlocks | undefined;
  onChoose: (execution: Execution) => void;
}) {
  if (run.status !== 'failed' || run.code === 'CANCELLED') return null;
  const failed = executions.findLast(({ status, step_id }) => status === 'failed' && step_id === run.step_id);
  return (
    <div role="alert" className={style.error}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard */}
      <p dir="auto" tabIndex={0}>
        {run.failureReason !== 'error' && `${REASONS[run.failureReason]} `}
        {run.errorMessage}
      </p>
      <div>
        <code>{run.code}</code>
        {failed ? (
          <Button size="small" onPress={() => onChoose(failed)}>
            Show the block that failed
          </Button>
        ) : (
          more && failedInBlock(run, steps) && <BlockNotLoaded block="The block that failed" more={more} />
        )}
      </div>
    </div>
  );
}

/** Says that a block execution is not among the loaded ones, and offers to load more. */
export function BlockNotLoaded({ block, more }: { block: ReactNode; more: MoreBlocks }) {
  return (
    <span>
      {block} is not among the first {formatCount(more.shown)} block executions.{' '}
      <Button size="small" isPending={more.isLoading} onPress={more.loadMore}>
        Show more
      </Button>
    </span>
  );
}

/** The facts of a run: flow, times, mode, cost, tokens. */
export function RunFacts({ run, path, root, now }: { run: Run; path: RunPath; root: Span; now: number }) {
  const { org, project, flow } = path;
  const duration = run.durationMs ?? (run.status === 'started' ? now - Date.parse(run.startedAt) : undefined);
  return (
    <Facts>
      <Fact name="Flow">
        <Link to="/orgs/$org/projects/$project/flows/$flow" params={{ org, project, flow }}>
          {flow}
        </Link>{' '}
        {run.version > 0 ? (
          <Link
            to="/orgs/$org/projects/$project/flows/$flow/versions"
            params={{ org, project, flow }}
            search={{ version: run.version }}
          >
            {versionName(run.version)}
          </Link>
        ) : (
          versionName(run.version)
        )}
      </Fact>
      <Fact name="Started">
        <Time at={run.startedAt} />
      </Fact>
      <Fact name="Duration">{duration === undefined ? '—' : formatDuration(Math.max(0, duration))}</Fact>
      <Fact name="Mode">{MODE_NAMES[run.mode] ?? run.mode}</Fact>
      <Fact name="Started by">
        <Starter run={run} path={path} />
      </Fact>
      {run.cancelledAt && (
        <Fact name="Cancelled by">
          {run.cancelledBy && <ActorName actor={run.cancelledBy} path={path} />},{' '}
          <Time at={run.cancelledAt} />
        </Fact>
      )}
      <Fact name="Credits">{formatCredits(run.cost)}</Fact>
      <Fact name="Tokens">{formatCount(root.tokens)}</Fact>
      {run.traceId && (
        <Fact name="Trace">
          <code>{run.traceId}</code>
        </Fact>
      )}
      {run.repeats && (
        <Fact name="Repeats">
          <RunLink path={path} executionId={run.repeats} />
        </Fact>
      )}
      {run.bulk_id && (
        <Fact name="Bulk retry">
          <Link
            to="/orgs/$org/projects/$project/bulk-retries/$bulkId"
            params={{ org, project, bulkId: run.bulk_id }}
          >
            <code>{shortId(run.bulk_id)}</code>
          </Link>
        </Fact>
      )}
      {run.repeatedBy && (
        <Fact name="Run again as">
          <RunLink path={path} executionId={run.repeatedBy} />
        </Fact>
      )}
    </Facts>
  );
}

/** Names the user, API key or test case that started a run. */
function Starter({ run, path: { org, project } }: { run: Run; path: RunPath }) {
  const found = useProject({ org, project });
  const nameOfUser = useUserName(found.organization.id);
  if (run.keyId)
    return (
      <>
        Key <KeyName keyId={run.keyId} found={found} /> {run.environment === 'test' && <Badge>test</Badge>}
      </>
    );
  if (run.startedBy !== null) return <span title={run.startedBy}>{nameOfUser(run.startedBy)}</span>;
  return run.mode === 'test' ? 'A test case' : 'The service';
}

function KeyName({ keyId, found }: { keyId: string; found: ReturnType<typeof useProject> }) {
  return <span title={keyId}>{useKeyNames(found).get(keyId) ?? <code>{keyId}</code>}</span>;
}

function ActorName({ actor, path: { org, project } }: { actor: string; path: RunPath }) {
  return <span title={actor}>{useActorName(useProject({ org, project }))(actor)}</span>;
}

/** Links to another run of the same flow. */
function RunLink({ path, executionId }: { path: RunPath; executionId: string }) {
  return (
    <Link to="/orgs/$org/projects/$project/flows/$flow/runs/$executionId" params={{ ...path, executionId }}>
      <code>{shortId(executionId)}</code>
    </Link>
  );
}
