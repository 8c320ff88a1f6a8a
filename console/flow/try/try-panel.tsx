import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { $api, api } from '../../api/client.ts';
import { StatusBadge } from '../../ui/badge.tsx';
import { ErrorNote, Note } from '../../ui/feedback.tsx';
import { formatCredits, shortId } from '../../ui/format.ts';
import { Table } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { useDraft, useFlow } from '../flow-context.ts';
import { RunView } from './run-view.tsx';
import { TryForm } from './try-form.tsx';
import { EMPTY_INPUT, type TryInput, toText, toTryInput } from './try-input.ts';
import style from './try-panel.module.css';
import { hasEnded, type TryRun, toPlan } from './try-run.ts';
import type { TryStore } from './try-store.ts';
import { useTry } from './use-try.ts';

const TRIES_SHOWN = 8;

/** Runs the draft or a version, whole or step by step, and shows the run. */
export function TryPanel() {
  const { flowId, saveToRun } = useDraft();
  const { flow, org, project } = useFlow();
  const { store, run } = useTry();
  const unfinished = useUnfinishedRun(flowId, run);
  const [input, setInput] = useState(() => readInput(flowId));
  /** Why the last start failed. */
  const [refused, setRefused] = useState<Error>();
  useFork(store, (forked) => change({ ...input, ...forked }), setRefused);
  useInputOfRun(change, setRefused);
  const outcome = useScrollTo(refused ?? run?.startedAt);

  function change(next: TryInput) {
    setInput(next);
    rememberInput(flowId, next);
  }
  async function start(version: number, mode: TryRun['mode'], request: Parameters<typeof store.start>[2]) {
    setRefused(undefined);
    let etag: string;
    try {
      etag = version === 0 ? await saveToRun() : '';
    } catch (error) {
      setRefused(error as Error);
      return;
    }
    await store.start(version, mode, request, etag);
  }

  return (
    <div className={style.panel}>
      <TryForm input={input} onChange={change} onStart={start} />
      <div ref={outcome} className={style.outcome} data-run={run !== undefined || undefined}>
        {refused && <ErrorNote error={refused} />}
        {run ? (
          <RunView run={run} store={store} />
        ) : unfinished ? (
          <Note>
            The run{' '}
            <Link
              to="/orgs/$org/projects/$project/flows/$flow/runs/$executionId"
              params={{ org, project, flow: flow.slug, executionId: unfinished }}
            >
              <code>{shortId(unfinished)}</code>
            </Link>{' '}
            had not ended when you left this page. Its page shows its status, and forks a session from any of
            its blocks.
          </Note>
        ) : (
          <p className={style.faint}>
            Write a message and run the flow: the graph shows the status of its steps, and each block’s
            output, tokens and cost appear here.
          </p>
        )}
        <RecentTries current={run?.executionId} />
      </div>
    </div>
  );
}

/** Scrolls to an element when `reason` has changed: what a run asks or answers would be below the form. */
function useScrollTo(reason: unknown): RefObject<HTMLDivElement | null> {
  const element = useRef<HTMLDivElement>(null);
  const last = useRef(reason);
  useEffect(() => {
    if (reason !== undefined && reason !== last.current) element.current?.scrollIntoView();
    last.current = reason;
  }, [reason]);
  return element;
}

/** Reads the input that was typed for a flow in this tab. */
function readInput(flowId: string): TryInput {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(keyOf(flowId)) ?? '{}');
    return { ...EMPTY_INPUT, ...(stored as Partial<TryInput>) };
  } catch {
    return EMPTY_INPUT;
  }
}

function rememberInput(flowId: string, input: TryInput): void {
  try {
    sessionStorage.setItem(keyOf(flowId), JSON.stringify(input));
  } catch {
    // Input that does not fit into the storage is not kept.
  }
}

function keyOf(flowId: string): string {
  return `weir try ${flowId}`;
}

/** Lists the last runs of the flow that users started in a console. */
function RecentTries({ current }: { current: string | undefined }) {
  const { flow, org, project } = useFlow();
  const { data } = $api.useQuery(
    'get',
    '/api/v1/seq/{org}/{project}/{flow}/runs',
    { params: { path: { org, project, flow: flow.slug }, query: { limit: 50 } } },
    { refetchInterval: 15_000 },
  );
  const tries = (data?.runs ?? [])
    .filter(({ keyId, mode, executionId }) => keyId === null && mode !== 'test' && executionId !== current)
    .slice(0, TRIES_SHOWN);
  if (tries.length === 0) return null;
  return (
    <details className={style.more}>
      <summary>Earlier tries</summary>
      <div className={style.scroll}>
        <Table label="Earlier tries" head={['Run', 'Status', 'Version', 'Credits', 'Started']}>
          {tries.map(({ executionId, status, outcome, version, cost, startedAt }) => (
            <tr key={executionId}>
              <td>
                <Link
                  to="/orgs/$org/projects/$project/flows/$flow/runs/$executionId"
                  params={{ org, project, flow: flow.slug, executionId }}
                >
                  <code>{shortId(executionId)}</code>
                </Link>
              </td>
              <td>
                <StatusBadge status={outcome ?? status} />
              </td>
              <td>{version === 0 ? 'Draft' : `v${version}`}</td>
              <td>{formatCredits(cost)}</td>
              <td>
                <Time at={startedAt} />
              </td>
            </tr>
          ))}
        </Table>
      </div>
    </details>
  );
}

/**
 * Starts a session when the address asks for it: `?fork=<executionId>&at=<step index>`, a link on the page of a run.
 */
function useFork(
  store: TryStore,
  onForked: (input: Partial<TryInput>) => void,
  onRefused: (error: Error) => void,
): void {
  const { fork, at } = useSearch({ strict: false }) as { fork?: string; at?: number };
  const { steps } = useDraft();
  const navigate = useNavigate();
  const handled = useRef<string>(undefined);
  useEffect(() => {
    if (!fork || handled.current === fork) return;
    handled.current = fork;
    store
      .fork(fork, Number(at ?? 0), toPlan(steps))
      .then(({ message, parameters }) => onForked({ message, parameters: toText(parameters) }), onRefused);
    const search = (({ fork: _, at: __, ...rest }: Record<string, unknown>) => rest) as never;
    void navigate({ to: '.', search, replace: true });
  });
}

/** Loads the input of the run in the address, `?input=<executionId>`, a link on the page of a run. */
function useInputOfRun(onRead: (input: TryInput) => void, onRefused: (error: Error) => void): void {
  const { input } = useSearch({ strict: false }) as { input?: unknown };
  const { flow, org, project } = useFlow();
  const navigate = useNavigate();
  const handled = useRef<string>(undefined);
  useEffect(() => {
    if (typeof input !== 'string' || handled.current === input) return;
    handled.current = input;
    const path = { org, project, flow: flow.slug, executionId: input };
    api
      .GET('/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}/request', {
        params: { path, query: { full: true } },
      })
      .then(({ data }) => data && onRead(toTryInput(data)), onRefused);
    const search = (({ input: _, ...rest }: Record<string, unknown>) => rest) as never;
    void navigate({ to: '.', search, replace: true });
  });
}

/**
 * Returns the id of the run that had not ended when the page was reloaded, until another one starts. The tab's session
 * storage keeps it.
 */
function useUnfinishedRun(flowId: string, run: TryRun | undefined): string | undefined {
  const key = `weir tried run ${flowId}`;
  const [unfinished, setUnfinished] = useState(() => sessionStorage.getItem(key) || undefined);
  const startedId = run?.executionId;
  const isOver = run !== undefined && hasEnded(run);
  useEffect(() => {
    if (startedId === undefined) return;
    setUnfinished(undefined);
    try {
      sessionStorage.setItem(key, isOver ? '' : startedId);
    } catch {
      // The input of the run has filled the storage.
    }
  }, [key, startedId, isOver]);
  return unfinished;
}
