import { useMemo, useState } from 'react';
import { fieldError } from '../../api/api-error.ts';
import { $api, refetch, type Schemas } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { CodeEditor } from '../../ui/code-editor/code-editor.tsx';
import { FormDialog, useIsMounted } from '../../ui/dialog.tsx';
import { Note } from '../../ui/feedback.tsx';
import { Select } from '../../ui/fields/select.tsx';
import { TextField } from '../../ui/fields/text-field.tsx';
import { ChangedMeanwhile, findNewerEtag } from '../changed-meanwhile.tsx';
import { useFlow } from '../flow-context.ts';
import { EMPTY_INPUT, parseInput, toText } from '../try/try-input.ts';
import {
  type CaseDraft,
  EMPTY_EXPECTATION,
  type ExpectationForm,
  KINDS,
  parseExpectation,
  parseToolResults,
  toForm,
} from './test-case.ts';

const CASES = '/api/v1/projects/{project_id}/flows/{flow_id}/test-cases';
const CASE = `${CASES}/{test_case_id}` as const;

type Props = {
  start: CaseDraft;
  onClose: () => void;
  /** Restarts the form with the test case as stored now. */
  onReload: (testCaseId: string) => void;
};

/** Creates or edits a test case. */
export function CaseDialog({ start, onClose, onReload }: Props) {
  const { flow, projectId } = useFlow();
  const isMounted = useIsMounted();
  const id = start.test_case_id;
  const [name, setName] = useState(start.name ?? '');
  const [message, setMessage] = useState(start.message ?? '');
  const [parameters, setParameters] = useState(toText(start.parameters));
  const [tools, setTools] = useState(toText(start.tools));
  const [toolResults, setToolResults] = useState(toText(start.tool_results));
  const [hasTools, setHasTools] = useState(tools !== '');
  const [form, setForm] = useState(start.expectation ? toForm(start.expectation) : EMPTY_EXPECTATION);
  const [isSent, setSent] = useState(false);
  const done = async () => {
    await refetch(CASES, CASE);
    if (isMounted.current) onClose();
  };
  const options = { meta: { quiet: true }, onSuccess: done };
  const create = $api.useMutation('post', CASES, options);
  const replace = $api.useMutation('put', CASE, options);
  const change = id === undefined ? create : replace;
  // Both texts may be long, so they are parsed only when they change.
  const input = useMemo(() => parseInput({ ...EMPTY_INPUT, parameters, tools }), [parameters, tools]);
  const answers = useMemo(() => parseToolResults(toolResults), [toolResults]);
  const { expectation, error } = useMemo(() => parseExpectation(form), [form]);
  const set = (changed: Partial<ExpectationForm>) => setForm({ ...form, ...changed });
  const shownError = isSent ? error : undefined;

  const newer = id === undefined ? undefined : findNewerEtag(replace.error);

  function submit(etag = start.etag) {
    setSent(true);
    if (!expectation || input.errors.parameters || input.errors.tools || answers.error) return;
    const offered = input.request.tools as Schemas['Tool'][] | undefined;
    const body = {
      name: name.trim(),
      message,
      parameters: input.request.parameters ?? {},
      ...(offered && { tools: offered }),
      ...(answers.results && { tool_results: answers.results }),
      expectation,
    };
    const path = { project_id: projectId, flow_id: flow.id };
    // Without If-None-Match, a test case with the same name would be replaced.
    if (id === undefined) create.mutate({ params: { path, header: { 'If-None-Match': '*' } }, body });
    else {
      const header = etag === undefined ? {} : { 'If-Match': etag };
      replace.mutate({ params: { path: { ...path, test_case_id: id }, header }, body });
    }
  }

  return (
    <FormDialog
      title={id === undefined ? 'New test case' : 'Test case'}
      action={id === undefined ? 'Create' : 'Save'}
      isOpen
      onClose={onClose}
      onSubmit={() => submit()}
      change={newer === undefined ? change : { error: null, isPending: change.isPending }}
      fields={['name', 'message']}
      isReady={name.trim() !== ''}
    >
      <TextField
        label="Name"
        autoFocus
        value={name}
        onChange={setName}
        error={fieldError(change.error, 'name')}
      />
      <TextField
        label="Message"
        rows={3}
        value={message}
        onChange={setMessage}
        error={fieldError(change.error, 'message')}
      />
      <CodeEditor
        label="Parameters"
        language="json"
        value={parameters}
        onChange={setParameters}
        error={isSent ? input.errors.parameters : undefined}
        placeholder="{}"
        lines={[2, 8]}
      />
      {hasTools ? (
        <>
          <CodeEditor
            label="Tools"
            language="json"
            value={tools}
            onChange={setTools}
            error={isSent ? (input.errors.tools ?? fieldError(change.error, 'tools')) : undefined}
            help="As callers send them: a list of functions."
            placeholder='[{"type": "function", "function": {"name": "look_up"}}]'
            lines={[3, 10]}
          />
          <CodeEditor
            label="Results of the tools"
            language="json"
            value={toolResults}
            onChange={setToolResults}
            error={isSent ? (answers.error ?? fieldError(change.error, 'tool_results')) : undefined}
            help="Each call of a tool takes the next result of its name. A call without a result fails the test."
            placeholder='[{"name": "look_up", "result": "found"}]'
            lines={[3, 10]}
          />
        </>
      ) : (
        <Button size="small" onPress={() => setHasTools(true)}>
          Add tools
        </Button>
      )}
      {start.note && <Note>{start.note}</Note>}
      <Select label="The answer" options={KINDS} value={form.kind} onChange={(kind) => set({ kind })} />
      {form.kind === 'contains' && (
        <TextField label="Text" value={form.text} onChange={(text) => set({ text })} error={shownError} />
      )}
      {form.kind === 'equals' && (
        <CodeEditor
          label="Value"
          language="json"
          value={form.value}
          onChange={(value) => set({ value })}
          error={shownError}
          help="A JSON value. Put a text in quotes."
          lines={[3, 12]}
        />
      )}
      {form.kind === 'json_schema' && (
        <CodeEditor
          label="JSON Schema"
          language="json-schema"
          value={form.schema}
          onChange={(schema) => set({ schema })}
          error={shownError}
          lines={[3, 14]}
        />
      )}
      {form.kind === 'judge' && (
        <>
          <TextField
            label="Criteria"
            rows={4}
            value={form.criteria}
            onChange={(criteria) => set({ criteria })}
            error={shownError}
            placeholder="Names at least two rivers and is polite."
          />
          <TextField
            label="Model that judges"
            value={form.model}
            onChange={(model) => set({ model })}
            placeholder="The default of the service"
            error={fieldError(change.error, 'expectation.model')}
            isMono
          />
        </>
      )}
      {newer !== undefined && id !== undefined && (
        <ChangedMeanwhile what="test case" onLoad={() => onReload(id)} onReplace={() => submit(newer)} />
      )}
    </FormDialog>
  );
}
