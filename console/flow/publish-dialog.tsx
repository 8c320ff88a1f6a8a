import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { $api, api, refetch } from '../api/client.ts';
import { refetchAfter } from '../api/query-options.ts';
import { useOpenFromAddress } from '../shell/use-open-from-address.ts';
import { Button } from '../ui/button.tsx';
import { FormDialog, useIsMounted } from '../ui/dialog.tsx';
import { Note } from '../ui/feedback.tsx';
import { Checkbox } from '../ui/fields/checkbox.tsx';
import { TextField } from '../ui/fields/text-field.tsx';
import { formatCount } from '../ui/format.ts';
import { Time } from '../ui/time.tsx';
import { showToast } from '../ui/toast.tsx';
import type { Problem } from './draft/problems.ts';
import { eachStep, findStep } from './draft/steps.ts';
import { useDraft, useFlow } from './flow-context.ts';
import { isAnyPending, sumUpResults } from './tests/last-results.ts';
import { FlowDifference } from './versions/flow-difference.tsx';
import style from './versions/versions.module.css';

/** The most that a flow can have. */
const CASES_MAX = 200;
const TESTS_POLL_MS = 5_000;

const PROBLEMS_SHOWN_MAX = 8;

const UNSAVED = {
  saved: undefined,
  saving: 'The draft is being saved …',
  unsaved: 'The draft is being saved …',
  conflict: 'The draft was changed elsewhere too. Close this and choose between the two.',
  refused: 'The draft cannot be saved as it is.',
  offline: 'The draft is not saved: the service cannot be reached.',
};

const NOTE_MAX_LENGTH = 2000;

/**
 * Publishes the draft as a version, and puts it into production if wanted. Shows the changes and the obstacles first.
 */
export function PublishDialog({ onClose }: { onClose: () => void }) {
  const { flow, projectId } = useFlow();
  const { steps, problems, saveState, etag, flush, refresh } = useDraft();
  const isMounted = useIsMounted();
  const [note, setNote] = useState('');
  const [isPromoted, setPromoted] = useState(flow.productionVersion === null);
  useEffect(() => void flush(), [flush]);
  const publish = useMutation({
    meta: { quiet: true },
    mutationFn: async () => {
      const { data } = await api.POST('/api/v1/projects/{project_id}/flows/{flow_id}/versions', {
        params: { path: { project_id: projectId, flow_id: flow.id }, header: { 'If-Match': etag } },
        body: { note: note.trim() },
      });
      return data?.version as number;
    },
    async onSuccess(version) {
      if (isMounted.current) onClose();
      if (!isPromoted) {
        showToast({ tone: 'good', title: `Version ${version} is published. Callers do not run it yet.` });
        return await refetchVersions();
      }
      await setProduction(projectId, flow.id, version).then(
        () => showToast({ tone: 'good', title: `Version ${version} is published and in production.` }),
        (error: Error) => {
          showToast({
            tone: 'bad',
            title: `Version ${version} is published, but could not be put into production: ${error.message}`,
            error,
          });
          return refetchVersions();
        },
      );
    },
    // Somebody else may have changed the draft, so it is read again.
    onError: () => void refresh(),
  });
  const isSame = flow.draftIsPublished && saveState === 'saved';
  const isReady = saveState === 'saved' && problems.length === 0 && !isSame;
  return (
    <FormDialog
      title={`Publish version ${(flow.latestVersion ?? 0) + 1}`}
      action={isPromoted ? 'Publish to production' : 'Publish'}
      width="56rem"
      isOpen
      onClose={onClose}
      onSubmit={() => publish.mutate()}
      change={publish}
      isReady={isReady}
    >
      <PublishObstacles onLeave={onClose} />
      {isSame && (
        <Note>
          The draft is the same as version {flow.latestVersion}: there is nothing to publish. The versions
          page puts a version into production.
        </Note>
      )}
      <TextField
        label="Note"
        rows={2}
        autoFocus
        value={note}
        onChange={setNote}
        maxLength={NOTE_MAX_LENGTH}
        placeholder="What changed, for your colleagues"
      />
      <Checkbox isSelected={isPromoted} onChange={setPromoted}>
        Put it into production: callers run it at once
      </Checkbox>
      {flow.latestVersion === null || isSame ? (
        <TestNote />
      ) : (
        <div className={style.inDialog}>
          <TestNote />
          <FlowDifference from={flow.latestVersion} to="draft" />
        </div>
      )}
      {flow.latestVersion === null && (
        <p>The first version of this flow. Steps: {formatCount([...eachStep(steps)].length)}.</p>
      )}
    </FormDialog>
  );
}

/** Lists what prevents publishing, and notes; nothing when there is neither. */
function PublishObstacles({ onLeave }: { onLeave: () => void }) {
  const { saveState, message, problems, notes } = useDraft();
  const unsaved = UNSAVED[saveState];
  return (
    <>
      {unsaved && (
        <Note tone="warn">
          {unsaved} {saveState === 'refused' && message}
        </Note>
      )}
      {problems.length > 0 && (
        <Note tone="warn">
          <p>To fix before it can be published:</p>
          <StepMessages messages={problems} onLeave={onLeave} />
        </Note>
      )}
      {notes.length > 0 && (
        <Note>
          <p>Good to know:</p>
          <StepMessages messages={notes} onLeave={onLeave} />
        </Note>
      )}
    </>
  );
}

/** Lists problems or notes, each with a button that leaves the dialog for its step. */
function StepMessages({ messages, onLeave }: { messages: Problem[]; onLeave: () => void }) {
  const { steps, select } = useDraft();
  return (
    <ul className={style.changes}>
      {messages.slice(0, PROBLEMS_SHOWN_MAX).map(({ stepId, field, message }) => (
        <li key={`${stepId} ${field} ${message}`}>
          {stepId !== undefined && (
            <Button
              size="small"
              onPress={() => {
                onLeave();
                select(stepId);
              }}
            >
              {findStep(steps, stepId)?.step.name ?? stepId}
            </Button>
          )}
          <span>{message}</span>
        </li>
      ))}
      {messages.length > PROBLEMS_SHOWN_MAX && <li>and {messages.length - PROBLEMS_SHOWN_MAX} more</li>}
    </ul>
  );
}

/** Says that publishing does not run the test cases, with their last results; nothing when there are none. */
function TestNote() {
  const { flow, org, project, projectId } = useFlow();
  const { data } = $api.useQuery(
    'get',
    '/api/v1/projects/{project_id}/flows/{flow_id}/test-cases',
    {
      params: { path: { project_id: projectId, flow_id: flow.id }, query: { limit: CASES_MAX } },
    },
    {
      refetchInterval: (query) =>
        refetchAfter(query, isAnyPending(query.state.data?.test_cases) && TESTS_POLL_MS),
    },
  );
  if (!data || data.test_cases.length === 0) return null;
  const last = sumUpResults(data.test_cases);
  return (
    <Note tone={last?.haveAllPassed ? 'idle' : 'warn'}>
      The flow has test cases, which publishing does not run.{' '}
      {last && (
        <>
          Their last results on the draft, the latest of <Time at={last.latest} />: {last.words}; the draft
          may have changed since.{' '}
        </>
      )}
      <Link to="/orgs/$org/projects/$project/flows/$flow/tests" params={{ org, project, flow: flow.slug }}>
        Run them on the draft
      </Link>
    </Note>
  );
}

export async function setProduction(projectId: string, flowId: string, version: number): Promise<void> {
  await api.PUT('/api/v1/projects/{project_id}/flows/{flow_id}/production', {
    params: { path: { project_id: projectId, flow_id: flowId } },
    body: { version },
  });
  await refetchVersions();
}

/** Fetches the versions of a flow, and whatever mentions them, again. */
function refetchVersions(): Promise<void> {
  return refetch(
    '/api/v1/projects/{project_id}/flows/{flow_id}/versions',
    '/api/v1/projects/{project_id}/flows/{flow_id}',
    '/api/v1/projects/{project_id}/flows',
  );
}

/** Opens the dialog that publishes the draft. */
export function PublishButton() {
  const [isOpen, setOpen] = useState(false);
  useOpenFromAddress('publish', () => setOpen(true));
  return (
    <>
      <Button variant="primary" onPress={() => setOpen(true)}>
        Publish
      </Button>
      {isOpen && <PublishDialog onClose={() => setOpen(false)} />}
    </>
  );
}
