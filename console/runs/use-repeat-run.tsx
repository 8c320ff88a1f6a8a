import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { $api, api, type Schemas } from '../api/client.ts';
import { sendOnce } from '../api/send-once.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { ErrorNote } from '../ui/feedback.tsx';
import { Select } from '../ui/fields/select.tsx';
import { showToast } from '../ui/toast.tsx';
import type { Run, RunPath } from './run.ts';

type How = 'rerun' | 'retry';
type Version = 'original' | 'production';

const WORDS = {
  retry: {
    title: 'Retry this run',
    action: 'Retry',
    text: 'The new run begins at the step that failed, or at the first step that differs between the versions. Only these steps are charged.',
  },
  rerun: {
    title: 'Run this again',
    action: 'Run again',
    text: 'The new run begins at the first step, with the same input.',
  },
};

/**
 * Returns what a run's page needs to run it again. `start` asks for the version when another one is in production now;
 * the page of the new run is opened.
 */
export function useRepeatRun(run: Run, path: RunPath, projectId: string) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<How>();
  const flow = $api.useQuery('get', '/api/v1/projects/{project_id}/flows/{flow_id}', {
    params: { path: { project_id: projectId, flow_id: run.flowId } },
  });
  const production = flow.data?.productionVersion ?? run.version;
  const repeat = useMutation({
    mutationFn: async ({ how, version }: { how: How; version: Version }) => {
      const { data } = await sendOnce(`${how} ${path.executionId} ${version}`, (key) =>
        api.POST(`/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}/${how}`, {
          params: { path, header: { 'Idempotency-Key': key } },
          body: { version },
        }),
      );
      return data as Schemas['RepeatAccepted'];
    },
    onSuccess({ executionId, version, beginsAt }, { how }) {
      const began = how === 'retry' ? 'The run is being retried.' : 'The run starts again.';
      const from = beginsAt && how === 'retry' ? ` from “${beginsAt.step_id}”. ${beginsAt.reason}` : '.';
      showToast({ tone: 'good', title: `${began} It runs v${version}${from}` });
      void client.invalidateQueries({ queryKey: ['runs'] });
      // The mutation stays pending until the other page is shown, because the button is still this run's.
      return navigate({
        to: '/orgs/$org/projects/$project/flows/$flow/runs/$executionId',
        params: { ...path, executionId },
      });
    },
  });
  return {
    isReady: !flow.isFetching && !repeat.isPending,
    isPending: repeat.isPending,
    async start(how: How) {
      // Another version may have been put into production since the page was opened.
      const { data } = await flow.refetch();
      if ((data?.productionVersion ?? run.version) === run.version)
        repeat.mutate({ how, version: 'original' });
      else setAsked(how);
    },
    dialog: asked && (
      <RepeatDialog
        how={asked}
        own={run.version}
        production={production}
        isPending={repeat.isPending}
        error={repeat.error}
        onConfirm={(version) =>
          repeat.mutate({ how: asked, version }, { onSuccess: () => setAsked(undefined) })
        }
        onClose={() => {
          repeat.reset();
          setAsked(undefined);
        }}
      />
    ),
  };
}

type Props = {
  how: How;
  own: number;
  production: number;
  isPending: boolean;
  error: Error | null;
  onConfirm: (version: Version) => void;
  onClose: () => void;
};

/** Asks for the version in which a run is run again. */
function RepeatDialog({ how, own, production, isPending, error, onConfirm, onClose }: Props) {
  const [version, setVersion] = useState<Version>('production');
  const { title, action, text } = WORDS[how];
  return (
    <Dialog title={title} isOpen onClose={onClose} isForm isPending={isPending}>
      <Select
        label="Version"
        value={version}
        onChange={setVersion}
        options={[
          { id: 'production', label: `v${production} · in production` },
          { id: 'original', label: `v${own} · as this run` },
        ]}
        help={text}
      />
      {error && <ErrorNote error={error} />}
      <DialogActions>
        <Button slot="close">Cancel</Button>
        <Button variant="primary" isPending={isPending} onPress={() => onConfirm(version)}>
          {action} on v{version === 'production' ? production : own}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
