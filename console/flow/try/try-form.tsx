import { useQuery } from '@tanstack/react-query';
import { Play, StepForward } from 'lucide-react';
import { type KeyboardEvent, useMemo, useState } from 'react';
import { $api } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/fields/select.tsx';
import { TextField } from '../../ui/fields/text-field.tsx';
import { useDraft, useFlow } from '../flow-context.ts';
import { ImagesField, MessageField, ParametersField, ToolsField } from './input-fields.tsx';
import { ProblemsNote } from './problems-note.tsx';
import { type ParsedInput, parseInput, type TryInput } from './try-input.ts';
import style from './try-panel.module.css';
import { isUnderWay, type TryRun } from './try-run.ts';
import { useTry } from './use-try.ts';

type Props = {
  input: TryInput;
  onChange: (input: TryInput) => void;
  onStart: (version: number, mode: TryRun['mode'], request: ParsedInput) => void;
};

export function TryForm({ input, onChange, onStart }: Props) {
  const { problems, steps } = useDraft();
  const { run } = useTry();
  const [version, setVersion] = useState('0');
  const [isSent, setSent] = useState(false);
  const versions = useVersions();
  const { request, errors } = useMemo(() => parseInput(input), [input]);
  const shown = isSent ? errors : {};
  const set = (changed: Partial<TryInput>) => onChange({ ...input, ...changed });
  const isBusy = run !== undefined && isUnderWay(run);
  const blocking = version === '0' ? problems : [];
  const isReady = blocking.length === 0 && !isBusy;

  function start(mode: TryRun['mode']) {
    setSent(true);
    if (Object.keys(errors).length === 0 && isReady) onStart(Number(version), mode, request);
  }
  function startByKey(event: KeyboardEvent) {
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    start('whole');
  }

  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a shortcut for the button below */}
      <div className={style.fields} onKeyDown={startByKey}>
        <Select label="Run" options={versions} value={version} onChange={setVersion} />
        <MessageField value={input.message} onChange={(message) => set({ message })} />
        <ParametersField
          value={input.parameters}
          onChange={(parameters) => set({ parameters })}
          error={shown.parameters}
          steps={steps}
        />
        <details
          className={style.more}
          open={shown.images || shown.tools || shown.maxCredits ? true : undefined}
        >
          <summary>
            Images, tools, limit
            {input.images.length + (request.tools ? 1 : 0) + (request.maxCredits ? 1 : 0) > 0 && ' · in use'}
          </summary>
          <div className={style.fields}>
            <ImagesField images={input.images} onChange={(images) => set({ images })} error={shown.images} />
            <ToolsField input={input} onChange={set} error={shown.tools} />
            <TextField
              label="At most, in credits"
              value={input.maxCredits}
              onChange={(maxCredits) => set({ maxCredits })}
              error={shown.maxCredits}
              placeholder="No limit"
              help="A model call that could exceed it is not made."
            />
          </div>
        </details>
        {blocking.length > 0 && (
          <ProblemsNote heading="The draft cannot run yet:" problems={blocking} max={5} />
        )}
      </div>
      <div className={style.actions}>
        <Button
          variant="primary"
          isDisabled={blocking.length > 0}
          isPending={isBusy}
          onPress={() => start('whole')}
        >
          <Play size={14} aria-hidden /> Run
        </Button>
        <Button isDisabled={blocking.length > 0} isPending={isBusy} onPress={() => start('steps')}>
          <StepForward size={14} aria-hidden /> Step through
        </Button>
      </div>
    </>
  );
}

/** Lists the draft and the versions, newest first, with the notes that are loaded. */
function useVersions() {
  const { flow, projectId } = useFlow();
  const { data } = useQuery(
    $api.queryOptions('get', '/api/v1/projects/{project_id}/flows/{flow_id}/versions', {
      params: { path: { project_id: projectId, flow_id: flow.id } },
    }),
  );
  const notes = new Map(data?.versions.map(({ version, note }) => [version, note]));
  const latest = flow.latestVersion ?? 0;
  return [
    { id: '0', label: 'Draft' },
    ...Array.from({ length: latest }, (_, index) => latest - index).map((version) => {
      const note = notes.get(version);
      return {
        id: String(version),
        label: `v${version}${version === flow.productionVersion ? ' · production' : ''}`,
        ...(note && { description: note.slice(0, 80) }),
      };
    }),
  ];
}
