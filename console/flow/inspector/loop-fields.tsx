import { useEffect, useState } from 'react';
import { NumberField } from '../../ui/fields/number-field.tsx';
import { Select } from '../../ui/fields/select.tsx';
import { TextField } from '../../ui/fields/text-field.tsx';
import { findChangedNumber, readJson } from '../../ui/json/read-json.ts';
import { changeStep, type LoopStep } from '../draft/steps.ts';
import { useDraft } from '../flow-context.ts';
import { withField } from './change-fields.ts';
import style from './inspector.module.css';
import { useStep } from './use-step.ts';

type Until = NonNullable<LoopStep['until']>;

const WAYS = [
  {
    id: 'each',
    label: 'For each item',
    description: 'For each item of the previous step’s output, which must be an array',
  },
  { id: 'until', label: 'Until a value is reached', description: 'The body runs on its own output' },
] as const;

/** Edits how a loop runs its body and when it stops. */
export function LoopFields({ step }: { step: LoopStep }) {
  const { change } = useDraft();
  const { set, problemOf } = useStep(step);
  const setUntil = (until: Until | undefined) =>
    change(`Change when ${step.name} stops`, (steps) =>
      changeStep(steps, step.step_id, (now) => withField(now, 'until', until)),
    );
  const { until } = step;
  return (
    <section className={style.section} aria-label="Loop">
      <Select
        label="Runs"
        options={WAYS}
        value={until ? 'until' : 'each'}
        onChange={(way) =>
          way !== (until ? 'until' : 'each') &&
          setUntil(way === 'until' ? { pointer: '/done', equals: true } : undefined)
        }
      />
      {!until && (
        <p className={style.help}>
          Repeats for each item of the previous step’s output, which must be an array.
        </p>
      )}
      <NumberField
        label="Iteration limit"
        value={step.max_iterations}
        onChange={(value) => set('max_iterations', value, 'iterations')}
        min={1}
        max={1000}
        placeholder="100"
        whenEmpty={100}
        help={until ? 'The loop ends here at the latest.' : 'A longer array fails the run.'}
        error={problemOf('max_iterations')}
      />
      {until && (
        <>
          <TextField
            label="Value at"
            isMono
            value={until.pointer}
            onChange={(pointer) => setUntil({ ...until, pointer })}
            help="A JSON Pointer into the body’s output, such as /done; empty for the whole output."
            error={
              until.pointer !== '' && !until.pointer.startsWith('/')
                ? 'A JSON Pointer begins with /.'
                : problemOf('until.pointer')
            }
          />
          <Equals value={until.equals} onChange={(equals) => setUntil({ ...until, equals })} />
        </>
      )}
      {problemOf('body') && <p className={style.problem}>{problemOf('body')}</p>}
    </section>
  );
}

/** Edits a JSON value. Invalid JSON stays in the field and changes nothing. */
function Equals({ value, onChange }: { value: Until['equals']; onChange: (value: Until['equals']) => void }) {
  const [text, setText] = useState(JSON.stringify(value));
  const kept = JSON.stringify(value);
  useEffect(() => {
    setText((text) => (JSON.stringify(parse(text)) === kept ? text : kept));
  }, [kept]);
  return (
    <TextField
      label="Equals"
      isMono
      value={text}
      help="JSON: true, 3, or a text in double quotes."
      error={
        findChangedNumber(text) ??
        (parse(text) === undefined ? 'This is not JSON: put a text in double quotes.' : undefined)
      }
      onChange={(text) => {
        setText(text);
        const parsed = parse(text);
        if (parsed !== undefined) onChange(parsed);
      }}
    />
  );
}

function parse(text: string): Until['equals'] | undefined {
  return readJson(text).value as Until['equals'] | undefined;
}
