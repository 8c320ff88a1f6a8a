import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api } from '../api/client.ts';
import { Checkbox } from '../ui/checkbox.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { formatCount } from '../ui/format.ts';
import { Note } from '../ui/note.tsx';
import { TextField } from '../ui/text-field.tsx';
import { showToast } from '../ui/toast.tsx';
import { useIsMounted } from '../ui/use-is-shown.ts';
import { useDraft } from './draft/draft-context.ts';
import { eachStep } from './draft/steps.ts';
import { useFlow } from './flow-context.ts';
import { FlowDifference } from './versions/flow-difference.tsx';
import { PublishObstacles } from './versions/publish-obstacles.tsx';
import { refetchVersions, setProduction } from './versions/set-production.ts';
import { TestNote } from './versions/test-note.tsx';
import style from './versions/versions.module.css';

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
