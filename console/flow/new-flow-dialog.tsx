import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { FileTrigger } from 'react-aria-components';
import { fieldError } from '../api/api-error.ts';
import { api, refetch, type Schemas } from '../api/client.ts';
import { Button } from '../ui/button.tsx';
import { FormDialog, useIsMounted } from '../ui/dialog.tsx';
import { toSlug } from '../ui/fields/read-text.ts';
import { Select } from '../ui/fields/select.tsx';
import { TextField } from '../ui/fields/text-field.tsx';
import { Row } from '../ui/page.tsx';
import { ChangedNumber, parseSteps, parseText } from './draft/parse-steps.ts';
import examples from './examples.json';

type Props = {
  projectId: string;
  slugs: { org: string; project: string };
  /** The flow to begin with: an example, or the flow to duplicate. Without it, the dialog asks. */
  begin?: FlowStart | undefined;
  /** Whether the dialog begins with a flow file. */
  isImport?: boolean;
  title?: string;
  onClose: () => void;
};

/** The name, description and steps with which a new flow starts. */
export type FlowStart = { name: string; description: string; steps: object[] };

const EMPTY = 'empty';
const FILE = 'file';
const STARTS = [
  { id: EMPTY, label: 'An empty flow', description: 'Add the steps yourself' },
  { id: FILE, label: 'A flow file', description: 'JSON or YAML, as downloaded from a flow’s menu' },
  ...examples.map(({ slug, name, description }) => ({ id: slug, label: `Example: ${name}`, description })),
];

/** Creates an empty flow, or one from an example, a file or another flow, and opens it. */
export function NewFlowDialog(props: Props) {
  const { projectId, slugs, begin, isImport = false, title = 'New flow', onClose } = props;
  const navigate = useNavigate();
  const isMounted = useIsMounted();
  const [start, setStart] = useState(isImport ? FILE : EMPTY);
  const [typedName, setName] = useState<string>();
  const [typedSlug, setSlug] = useState<string>();
  const [typedDescription, setDescription] = useState<string>();
  const [file, setFile] = useState<FlowStart>();
  const [fileError, setFileError] = useState<string>();
  const example = begin ?? (start === FILE ? file : examples.find(({ slug }) => slug === start));
  const name = typedName ?? example?.name ?? '';
  const slug = typedSlug ?? toSlug(name);
  const description = typedDescription ?? example?.description ?? '';
  const made = useRef<Schemas['Flow']>(undefined);
  const create = useMutation({
    meta: { quiet: true },
    async mutationFn() {
      // If only the steps were refused, the flow exists and is not created again.
      if (made.current?.slug !== slug || slug === '')
        made.current = await createFlow(projectId, { name: name.trim(), slug, description });
      if (example) await replaceDraft(made.current, example.steps);
      return made.current;
    },
    async onSuccess(flow) {
      await refetch('/api/v1/projects/{project_id}/flows');
      if (!isMounted.current) return;
      onClose();
      await navigate({
        to: '/orgs/$org/projects/$project/flows/$flow',
        params: { ...slugs, flow: flow.slug },
      });
    },
  });
  return (
    <FormDialog
      title={isImport ? 'Import a flow' : title}
      action="Create flow"
      isOpen
      onClose={onClose}
      change={create}
      fields={['name', 'slug', 'description']}
      isReady={name.trim() !== '' && (start !== FILE || file !== undefined)}
      onSubmit={() => create.mutate()}
    >
      <TextField
        label="Name"
        autoFocus
        value={name}
        onChange={setName}
        error={fieldError(create.error, 'name')}
      />
      <TextField
        label="Slug"
        isMono
        help={`Callers use it, and it stays: /api/v1/seq/${slugs.org}/${slugs.project}/${slug || '…'}/execute`}
        value={slug}
        onChange={setSlug}
        error={fieldError(create.error, 'slug')}
      />
      <TextField
        label="Description"
        rows={2}
        value={description}
        onChange={setDescription}
        error={fieldError(create.error, 'description')}
      />
      {!begin && <Select label="Begin with" options={STARTS} value={start} onChange={setStart} />}
      {start === FILE && (
        <Row>
          <FileTrigger
            acceptedFileTypes={['.yaml', '.yml', '.json']}
            onSelect={(files) => {
              const [chosen] = files ?? [];
              if (!chosen) return;
              setFileError(undefined);
              setFile(undefined);
              readFlowFile(chosen).then(setFile, (error: Error) => setFileError(error.message));
            }}
          >
            <Button>Choose a file</Button>
          </FileTrigger>
          <span role="status">
            {fileError ??
              (file && `${file.name}: ${file.steps.length} ${file.steps.length === 1 ? 'step' : 'steps'}`)}
          </span>
        </Row>
      )}
    </FormDialog>
  );
}

/** Reads a flow file. Throws an error whose message is for the user. */
async function readFlowFile(file: File): Promise<FlowStart> {
  const text = await file.text();
  const steps = await parseSteps(text).catch((error: unknown) => {
    if (error instanceof ChangedNumber) throw error;
    throw new Error(`${file.name} holds no steps. Choose a flow file, as JSON or YAML.`);
  });
  const written = (await parseText(text)) as Partial<FlowStart>;
  const name = typeof written.name === 'string' ? written.name : file.name.replace(/\.\w+$/, '');
  const description = typeof written.description === 'string' ? written.description : '';
  return { name, description, steps };
}

async function createFlow(project_id: string, body: Schemas['CreateFlow']): Promise<Schemas['Flow']> {
  const { data } = await api.POST('/api/v1/projects/{project_id}/flows', {
    params: { path: { project_id } },
    body,
  });
  return data as Schemas['Flow'];
}

async function replaceDraft({ projectId, id }: Schemas['Flow'], steps: object[]): Promise<void> {
  await api.PUT('/api/v1/projects/{project_id}/flows/{flow_id}/draft', {
    params: { path: { project_id: projectId, flow_id: id }, header: { 'If-Match': '*' } },
    body: { steps: steps as Schemas['Steps'] },
  });
}
