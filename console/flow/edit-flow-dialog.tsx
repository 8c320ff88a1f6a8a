import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, type Schemas } from '../api/client.ts';
import { fieldError } from '../api/field-error.ts';
import { refetch } from '../api/query-client.ts';
import { Dialog } from '../ui/dialog.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Loading } from '../ui/loading.tsx';
import { TextField } from '../ui/text-field.tsx';
import { useIsMounted } from '../ui/use-is-shown.ts';
import { ChangedMeanwhile, findNewerEtag } from './changed-meanwhile.tsx';
import { useFlow } from './flow-context.ts';

const FLOW = '/api/v1/projects/{project_id}/flows/{flow_id}';

/** Edits the name and description of the flow, starting from their current values. */
export function EditFlowDialog({ onClose }: { onClose: () => void }) {
  const { flow, projectId } = useFlow();
  const query = useQuery({
    queryKey: ['flow to edit', flow.id],
    queryFn: async () => {
      const { data, response } = await api.GET(FLOW, {
        params: { path: { project_id: projectId, flow_id: flow.id } },
      });
      return { flow: data ?? flow, etag: response.headers.get('etag') ?? '*' };
    },
    gcTime: 0,
    // Fetched again only on request: new data restarts the form without what was typed.
    staleTime: 'static',
    refetchInterval: false,
  });
  if (query.data)
    return (
      <FlowForm
        key={query.data.etag}
        {...query.data}
        onClose={onClose}
        onReload={() => void query.refetch()}
      />
    );
  return (
    <Dialog title="Name and description" isOpen onClose={onClose}>
      {query.error ? <ErrorNote error={query.error} onRetry={() => void query.refetch()} /> : <Loading />}
    </Dialog>
  );
}

type FlowFormProps = {
  flow: Pick<Schemas['Flow'], 'id' | 'name' | 'description' | 'slug'>;
  etag: string;
  onClose: () => void;
  onReload: () => void;
};

function FlowForm({ flow, etag, onClose, onReload }: FlowFormProps) {
  const { projectId } = useFlow();
  const isMounted = useIsMounted();
  const [name, setName] = useState(flow.name);
  const [description, setDescription] = useState(flow.description);
  const change = useMutation({
    meta: { quiet: true },
    mutationFn: (match: string) =>
      api.PUT(FLOW, {
        params: { path: { project_id: projectId, flow_id: flow.id }, header: { 'If-Match': match } },
        body: { name: name.trim(), description },
      }),
    async onSuccess() {
      await refetch(FLOW, '/api/v1/projects/{project_id}/flows');
      if (isMounted.current) onClose();
    },
  });
  const newer = findNewerEtag(change.error);
  return (
    <FormDialog
      title="Name and description"
      action="Save"
      isOpen
      onClose={onClose}
      change={newer === undefined ? change : { error: null, isPending: change.isPending }}
      fields={['name', 'description']}
      isReady={name.trim() !== ''}
      onSubmit={() => change.mutate(etag)}
    >
      <TextField
        label="Name"
        autoFocus
        value={name}
        onChange={setName}
        error={fieldError(change.error, 'name')}
      />
      <TextField
        label="Description"
        rows={4}
        value={description}
        onChange={setDescription}
        help="What the flow is for."
        error={fieldError(change.error, 'description')}
      />
      <TextField
        label="Slug"
        isMono
        isReadOnly
        value={flow.slug}
        help="It is part of the flow’s URL, and stays."
      />
      {newer !== undefined && (
        <ChangedMeanwhile what="flow" onLoad={onReload} onReplace={() => change.mutate(newer)} />
      )}
    </FormDialog>
  );
}
