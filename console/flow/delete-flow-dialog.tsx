import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../api/client.ts';
import { queryClient, refetch } from '../api/query-client.ts';
import { hasRole, useProject } from '../shell/me.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { Note } from '../ui/note.tsx';
import { TextField } from '../ui/text-field.tsx';
import { showToast } from '../ui/toast.tsx';
import { useIsMounted } from '../ui/use-is-shown.ts';
import { useFlow } from './flow-context.ts';

/** Deletes the flow after its slug was typed. Members read whom to ask. */
export function DeleteFlowDialog({ onClose }: { onClose: () => void }) {
  const { flow, org, project, projectId } = useFlow();
  const { organization } = useProject({ org, project });
  const navigate = useNavigate();
  const isMounted = useIsMounted();
  const [typed, setTyped] = useState('');
  const remove = useMutation({
    meta: { quiet: true },
    mutationFn: () =>
      api.DELETE('/api/v1/projects/{project_id}/flows/{flow_id}', {
        params: { path: { project_id: projectId, flow_id: flow.id } },
      }),
    async onSuccess() {
      if (isMounted.current) {
        onClose();
        await navigate({ to: '/orgs/$org/projects/$project', params: { org, project } });
      }
      queryClient.removeQueries({ queryKey: ['flow id', projectId] });
      await refetch('/api/v1/projects/{project_id}/flows');
      showToast({ tone: 'good', title: `The flow ${flow.slug} is deleted.` });
    },
  });
  const mayDelete = hasRole(organization, 'admin');
  return (
    <Dialog
      title={`Delete the flow ${flow.slug}?`}
      isOpen
      isForm={mayDelete}
      onClose={onClose}
      isPending={remove.isPending}
    >
      {mayDelete ? (
        <>
          <p>
            This cannot be undone. The flow can no longer be called; runs under way continue. Its versions,
            its draft and its test cases are gone: copy what you may need from the versions page first.
          </p>
          <TextField
            label={`Type ${flow.slug} to confirm`}
            isMono
            autoFocus
            value={typed}
            onChange={setTyped}
          />
        </>
      ) : (
        <Note tone="warn">
          Deleting a flow needs the role admin or owner in {organization.name}; yours is {organization.role}.
          Ask an admin to do it.
        </Note>
      )}
      {remove.error && <ErrorNote error={remove.error} />}
      <DialogActions>
        <Button slot="close">Cancel</Button>
        {mayDelete && (
          <Button
            variant="danger"
            isDisabled={typed !== flow.slug}
            isPending={remove.isPending}
            onPress={() => remove.mutate()}
          >
            Delete flow
          </Button>
        )}
      </DialogActions>
    </Dialog>
  );
}
