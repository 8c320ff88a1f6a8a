import { FastForward, StepForward } from 'lucide-react';
import { useMemo, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { CodeEditor } from '../../ui/code-editor/code-editor.tsx';
import { formatBytes } from '../../ui/format.ts';
import { Row } from '../../ui/page.tsx';
import { ReturnFocus } from '../../ui/use-return-focus.ts';
import { useDraft } from '../flow-context.ts';
import { EDITED_MAX_CHARS, parseOutput } from './try-input.ts';
import style from './try-panel.module.css';
import { isUnderWay, type PlanStep, type TryRun } from './try-run.ts';
import type { TryStore } from './try-store.ts';

type OutputEditorProps = {
  output: unknown;
  isLast: boolean;
  /** The edited text; undefined while it is unchanged. */
  text: string | undefined;
  error: string | undefined;
  onChange: (text: string) => void;
  onSave: () => void;
};

/** The steps of a session: runs the next one, shows and edits earlier outputs, and goes back. */
export function StepThrough({ run, store }: { run: TryRun; store: TryStore }) {
  const { plan, nextIndex, outputs } = run;
  const { select } = useDraft();
  const [editing, setEditing] = useState<string>();
  const [text, setText] = useState<string>();
  const [error, setError] = useState<string>();
  const isBusy = isUnderWay(run);
  const next = plan.find(({ index }) => index === nextIndex);
  const mayGoOn = run.status !== 'tools' && run.status !== 'cancelled';
  const canGoOn = mayGoOn && !isBusy;
  if (plan.length === 0) return null;

  /** Opens the output of a step, or closes it (undefined). An edited output is used first; invalid JSON stays open. */
  function edit(stepId: string | undefined): boolean {
    const typed = text === undefined ? undefined : parseOutput(text);
    setError(typed?.error);
    if (typed?.error !== undefined) return false;
    if (editing !== undefined && typed) store.setOutput(editing, typed.value);
    setText(undefined);
    setEditing(stepId);
    return true;
  }
  function goOn(index: number, options?: { runRemaining: boolean }) {
    if (edit(undefined)) void store.step(index, options);
  }

  return (
    <div className={style.fields}>
      {/* They stay while a step runs, and keep the focus for the next one. */}
      {mayGoOn && next && (
        <Row>
          <ReturnFocus />
          <Button variant="primary" isPending={isBusy} onPress={() => goOn(next.index)}>
            <StepForward size={14} aria-hidden /> Run {next.name}
          </Button>
          {next.index < plan.length - 1 && (
            <Button isPending={isBusy} onPress={() => goOn(next.index, { runRemaining: true })}>
              <FastForward size={14} aria-hidden /> Run the rest
            </Button>
          )}
        </Row>
      )}
      <ol className={style.plan} aria-label="Steps">
        {plan.map((step) => (
          <li key={step.step_id} data-next={step.index === nextIndex || undefined}>
            <div className={style.block}>
              <span className={style.index}>{step.index + 1}</span>
              <button type="button" className={style.link} onClick={() => select(step.step_id)}>
                <bdi>{step.name}</bdi>
              </button>
              <span className={style.faint}>{describe(step, run)}</span>
              <span className={style.numbers}>
                {Object.hasOwn(outputs, step.step_id) && (
                  <Button
                    size="small"
                    variant="quiet"
                    aria-expanded={editing === step.step_id}
                    onPress={() => edit(editing === step.step_id ? undefined : step.step_id)}
                  >
                    Output
                  </Button>
                )}
                {canGoOn && step.index !== nextIndex && isReachable(step, run) && (
                  <Button size="small" variant="quiet" onPress={() => store.goTo(step.index)}>
                    {Object.hasOwn(outputs, step.step_id) ? 'Go back here' : 'Continue here'}
                  </Button>
                )}
              </span>
            </div>
            {editing === step.step_id && (
              <OutputEditor
                key={step.step_id}
                output={outputs[step.step_id]}
                isLast={step.index === plan.length - 1}
                text={text}
                error={error}
                onChange={setText}
                onSave={() => edit(undefined)}
              />
            )}
          </li>
        ))}
      </ol>
    </div>
  );
}

/** Whether the step before has an output, so that this step can run. */
function isReachable({ index }: PlanStep, { plan, outputs }: TryRun): boolean {
  const before = plan[index - 1];
  return !before || Object.hasOwn(outputs, before.step_id);
}

function describe({ index, step_id }: PlanStep, run: TryRun): string {
  if (index === run.nextIndex) {
    if (isUnderWay(run)) return 'Running …';
    if (run.status === 'tools') return 'Waits for tool results';
    return 'Next';
  }
  return Object.hasOwn(run.outputs, step_id) ? 'Has an output' : '';
}

/** Edits the output of a step, which the following steps receive. */
function OutputEditor({ output, isLast, text: typed, error, onChange, onSave }: OutputEditorProps) {
  const written = useMemo(() => JSON.stringify(output, null, 2) ?? 'null', [output]);
  const text = typed ?? written;
  if (text.length > EDITED_MAX_CHARS)
    return (
      <p className={style.faint}>
        This output has {formatBytes(text.length)}, too much to be edited here: open the run to read it.
      </p>
    );
  return (
    <div className={style.values}>
      <CodeEditor
        label="Output"
        hideLabel
        language="json"
        value={text}
        {...(!isLast && { onChange })}
        error={error}
        lines={[2, 16]}
      />
      {!isLast && (
        <Row>
          <Button size="small" onPress={onSave}>
            Use this output from here on
          </Button>
        </Row>
      )}
    </div>
  );
}
