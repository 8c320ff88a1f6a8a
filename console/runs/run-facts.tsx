import { Link } from '@tanstack/react-router';
import { Badge } from '../ui/badge.tsx';
import { formatCount, formatCredits, formatDuration, shortId } from '../ui/format.ts';
import { Fact, Facts } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import type { Run, RunPath } from './run-path.ts';
import { MODE_NAMES, versionName } from './run-words.ts';
import type { Span } from './trace/spans.ts';

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
        {run.keyId ? (
          <>
            Key <code>{run.keyId}</code> {run.environment === 'test' && <Badge>test</Badge>}
          </>
        ) : run.mode === 'test' ? (
          'A test case'
        ) : (
          'A user'
        )}
      </Fact>
      <Fact name="Credits">{formatCredits(run.cost)}</Fact>
      <Fact name="Tokens">{formatCount(root.tokens)}</Fact>
      {run.traceId && (
        <Fact name="Trace">
          <code>{run.traceId}</code>
        </Fact>
      )}
      {run.repeats && (
        <Fact name="Repeats">
          <Link
            to="/orgs/$org/projects/$project/flows/$flow/runs/$executionId"
            params={{ ...path, executionId: run.repeats }}
          >
            <code>{shortId(run.repeats)}</code>
          </Link>
        </Fact>
      )}
    </Facts>
  );
}
