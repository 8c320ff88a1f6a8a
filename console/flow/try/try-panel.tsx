import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ErrorNote } from '../../ui/error-note.tsx';
import { shortId } from '../../ui/format.ts';
import { Note } from '../../ui/note.tsx';
import { useDraft } from '../draft/draft-context.ts';
import { useFlow } from '../flow-context.ts';
import { RecentTries } from './recent-tries.tsx';
import { readInput, rememberInput } from './remembered-input.ts';
import { RunView } from './run-view.tsx';
import { TryForm } from './try-form.tsx';
import type { TryInput } from './try-input.ts';
import style from './try-panel.module.css';
import type { TryRun } from './try-run.ts';
import { useFork } from './use-fork.ts';
import { useInputOfRun } from './use-input-of-run.ts';
import { useUnfinishedRun } from './use-left-run.ts';
import { useTry } from './use-try.ts';

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
      <div className={style.columns}>
        <div className={style.form}>
          <TryForm input={input} onChange={change} onStart={start} />
          {refused && <ErrorNote error={refused} />}
        </div>
        <div className={style.outcome}>
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
              had not ended when you left this page. Its page shows its status, and forks a session from any
              of its blocks.
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
    </div>
  );
}
