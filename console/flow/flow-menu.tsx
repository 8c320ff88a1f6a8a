import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import { useState } from 'react';
import { fieldError } from '../api/api-error.ts';
import { api, queryClient, refetch, type Schemas } from '../api/client.ts';
import { hasRole, useProject } from '../shell/me.ts';
import { useOpenFromAddress } from '../shell/use-open-from-address.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { Dialog, DialogActions, FormDialog, useIsMounted } from '../ui/dialog.tsx';
import { ErrorNote, Loading, Note } from '../ui/feedback.tsx';
import { TextField } from '../ui/fields/text-field.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { saveFile } from '../ui/save-file.ts';
import { showToast } from '../ui/toast.tsx';
import { ChangedMeanwhile, findNewerEtag } from './changed-meanwhile.tsx';
import { type Step, toSteps } from './draft/steps.ts';
import { useFlow } from './flow-context.ts';
import { type FlowStart, NewFlowDialog } from './new-flow-dialog.tsx';
import { toFlowFile, useYaml } from './versions/flow-file-panel.tsx';

const FLOW = '/api/v1/projects/{project_id}/flows/{flow_id}';

type FlowFormProps = {
  flow: Pick<Schemas['Flow'], 'id' | 'name' | 'description' | 'slug'>;
  etag: string;
  onClose: () => void;
  onReload: () => void;
};

/** The menu of a flow: name and description, duplicate, download, delete. */
export function FlowMenu() {
  const { flow, org, project, projectId } = useFlow();
  const [opened, setOpened] = useState<'edit' | 'delete'>();
  const [copied, setCopied] = useState<FlowStart>();
  const close = () => setOpened(undefined);
  const yaml = useYaml();
  async function readDraft(): Promise<Step[]> {
    const { data } = await api.GET(`${FLOW}/draft`, {
      params: { path: { project_id: projectId, flow_id: flow.id } },
    });
    return toSteps(data?.steps ?? []);
  }
  const duplicate = useMutation({
    mutationFn: readDraft,
    onSuccess: (steps) => setCopied({ name: `${flow.name} (copy)`, description: flow.description, steps }),
  });
  const download = useMutation({
    async mutationFn() {
      const steps = await readDraft();
      const { data } = yaml.data ? yaml : await yaml.refetch({ throwOnError: true });
      const text = data?.write(toFlowFile(flow, steps)) ?? '';
      saveFile(new Blob([text], { type: 'text/yaml' }), `${flow.slug}.yaml`);
    },
  });
  useOpenFromAddress('duplicate', () => duplicate.mutate());
  useOpenFromAddress('export', () => download.mutate());
  return (
    <>
      <Menu
        label="Flow"
        trigger={
          <IconButton label="More about this flow">
            <Ellipsis size={16} />
          </IconButton>
        }
      >
        <MenuItem onAction={() => setOpened('edit')}>Name and description</MenuItem>
        <MenuItem onAction={() => duplicate.mutate()}>Duplicate</MenuItem>
        <MenuItem onAction={() => download.mutate()}>Download as a file</MenuItem>
        <MenuItem tone="danger" onAction={() => setOpened('delete')}>
          Delete flow
        </MenuItem>
      </Menu>
      {opened === 'edit' && <EditFlowDialog onClose={close} />}
      {opened === 'delete' && <DeleteFlowDialog onClose={close} />}
      {copied && (
        <NewFlowDialog
          projectId={projectId}
          slugs={{ org, project }}
          begin={copied}
          title={`Duplicate ${flow.name}`}
          onClose={() => setCopied(undefined)}
        />
      )}
    </>
  );
}

/** Deletes the flow after its slug was typed. Members read whom to ask. */
function DeleteFlowDialog({ onClose }: { onClose: () => void }) {
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

/** Edits the name and description of the flow, starting from their current values. */
function EditFlowDialog({ onClose }: { onClose: () => void }) {
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
