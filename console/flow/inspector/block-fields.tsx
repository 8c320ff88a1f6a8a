import { useMemo } from 'react';
import { CodeEditor } from '../../ui/code-editor/code-editor.tsx';
import type { EditorProblem } from '../../ui/code-editor/editor-types.ts';
import { Switch } from '../../ui/fields/checkbox.tsx';
import { NumberField } from '../../ui/fields/number-field.tsx';
import { Select } from '../../ui/fields/select.tsx';
import { fieldName } from '../draft/field-names.ts';
import type { Problem } from '../draft/problems.ts';
import type { SequentialStep } from '../draft/steps.ts';
import { ExampleMessages } from './example-messages.tsx';
import style from './inspector.module.css';
import { LinesField } from './lines-field.tsx';
import { ModelField } from './model-field.tsx';
import { type BlockConfig, useStep } from './use-step.ts';
import { variableScope } from './variable-scope.ts';

type Effort = NonNullable<BlockConfig['reasoning_effort']>;

const DEFAULT = 'default';
const EFFORTS: Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'];

const NUMBERS = [
  { field: 'temperature', label: 'Temperature', min: 0, max: 2, isWhole: false, placeholder: 'Default' },
  { field: 'max_tokens', label: 'Token limit', min: 1, max: 10_000_000, placeholder: 'Model’s own' },
  { field: 'timeout_ms', label: 'Timeout, ms', min: 1, max: 3_600_000, placeholder: '600000' },
  { field: 'max_retries', label: 'Retries', min: 0, max: 7, placeholder: '7; 3 on calls' },
  { field: 'top_p', label: 'top_p', min: 0, max: 1, isWhole: false, placeholder: 'Default' },
  {
    field: 'seed',
    label: 'Seed',
    min: Number.MIN_SAFE_INTEGER,
    max: Number.MAX_SAFE_INTEGER,
    placeholder: 'None',
  },
] as const;

const API_OPTIONS = [
  { id: DEFAULT, label: 'As configured' },
  { id: 'openai-chat', label: 'Chat Completions' },
  { id: 'openai-responses', label: 'Responses' },
];

const CACHE_OPTIONS = [
  { id: DEFAULT, label: '5 minutes' },
  { id: '1h', label: '1 hour' },
  { id: 'off', label: 'Off' },
];

const CUT_OPTIONS = [
  { id: 'fail', label: 'Fails the block' },
  { id: 'accept', label: 'Its text is the output' },
];

const EFFORT_OPTIONS = [
  { id: DEFAULT, label: 'Default of the model' },
  ...EFFORTS.map((effort) => ({ id: effort, label: effort })),
];

/** The fields of a model call. */
export function LlmFields({ step }: { step: SequentialStep }) {
  const { steps, set, configure, problemOf } = useStep(step);
  const scope = useMemo(() => variableScope(steps, step.step_id), [steps, step.step_id]);
  return (
    <div className={style.fields}>
      <ModelField step={step} />
      <CodeEditor
        label="Prompt"
        language="prompt"
        value={step.prompt ?? ''}
        onChange={(prompt) => set('prompt', prompt)}
        scope={scope}
        lines={[5, 22]}
        placeholder="What the model is asked"
        help={
          <>
            Type <code>{'{{'}</code> for the message, parameters and outputs of earlier steps.
          </>
        }
        error={problemOf('prompt')}
      />
      <CodeEditor
        label="System message"
        language="text"
        value={step.processor_config?.system ?? ''}
        onChange={(system) => configure('system', system || undefined)}
        lines={[2, 12]}
        placeholder="Sent before the prompt, as it is: without variables"
        error={problemOf('processor_config.system')}
      />
      <ExampleMessages step={step} />
      <LlmConfig step={step} />
    </div>
  );
}

/** The less common settings of a model call. Empty fields show the default. */
function LlmConfig({ step }: { step: SequentialStep }) {
  const { steps, configure, problemOf } = useStep(step);
  const config = step.processor_config ?? {};
  const isInside = !steps.some(({ step_id }) => step_id === step.step_id);
  const error = (field: string) => problemOf(`processor_config.${field}`);
  const stops = typeof config.stop === 'string' ? [config.stop] : (config.stop ?? []);
  const number = (field: (typeof NUMBERS)[number]['field'] | 'max_tool_iterations') => ({
    value: config[field],
    onChange: (value: number | undefined) => configure(field, value),
    error: error(field),
  });
  const choice = (field: 'reasoning_effort' | 'api' | 'prompt_cache') => ({
    value: config[field] ?? DEFAULT,
    onChange: (id: string) => configure(field, (id === DEFAULT ? undefined : id) as never),
  });
  return (
    <details className={style.more} open={problemOf('processor_config') !== undefined || undefined}>
      <summary>More{namesOf(config)}</summary>
      <div>
        <div className={style.pair}>
          {NUMBERS.map(({ field, ...props }) => (
            <NumberField key={field} {...props} {...number(field)} />
          ))}
        </div>
        <Select label="Reasoning effort" options={EFFORT_OPTIONS} {...choice('reasoning_effort')} />
        <Select label="API of OpenAI" options={API_OPTIONS} {...choice('api')} />
        <Select label="Prompt cache" options={CACHE_OPTIONS} {...choice('prompt_cache')} />
        <Select
          label="Answer cut off at its token limit"
          options={CUT_OPTIONS}
          value={config.on_length ?? 'fail'}
          onChange={(id) => configure('on_length', id === 'accept' ? id : undefined)}
        />
        {error('on_length') && <p className={style.problem}>{error('on_length')}</p>}
        <LinesField
          label="Stop at"
          isMono
          values={stops}
          onChange={(values) => configure('stop', values)}
          help="Texts at which the answer ends, one on each line."
          error={error('stop')}
        />
        <Switch
          isSelected={config.tools_enabled ?? false}
          isDisabled={isInside && !config.tools_enabled}
          onChange={(isOn) => configure('tools_enabled', isOn || undefined)}
        >
          Can call tools
        </Switch>
        {isInside && <p className={style.help}>Blocks inside parallel steps and loops cannot call tools.</p>}
        {config.tools_enabled && (
          <NumberField
            label="Rounds of tool calls, at most"
            {...number('max_tool_iterations')}
            min={1}
            max={100}
            placeholder="25"
          />
        )}
        {error('tools_enabled') && <p className={style.problem}>{error('tools_enabled')}</p>}
      </div>
    </details>
  );
}

/** Names the settings that are not the defaults: ` (temperature, timeout)`. */
function namesOf(config: BlockConfig): string {
  const names = Object.keys(config)
    .filter((field) => field !== 'system' && field !== 'messages')
    .map(fieldName);
  return names.length > 0 ? ` (${names.join(', ')})` : '';
}

export function CodeFields({ step }: { step: SequentialStep }) {
  const { problems, set, configure, problemOf } = useStep(step);
  const reported = JSON.stringify(problems.filter(({ field }) => field === 'prompt'));
  const marked = useMemo(() => (JSON.parse(reported) as Problem[]).map(toEditorProblem), [reported]);
  return (
    <div className={style.fields}>
      <CodeEditor
        label="Code"
        language="javascript"
        value={step.prompt ?? ''}
        onChange={(code) => set('prompt', code, 'code')}
        problems={marked}
        lines={[8, 28]}
        help={
          <>
            The body of an async function of <code>input</code>, <code>message</code>, <code>parameters</code>{' '}
            and <code>outputs</code> (of earlier steps, by step_id). What it returns is the output. No
            network, files or timers.
          </>
        }
        error={problemOf('prompt')}
      />
      <NumberField
        label="Processor time, ms"
        value={step.processor_config?.timeout_ms}
        onChange={(value) => configure('timeout_ms', value)}
        min={1}
        max={30_000}
        placeholder="5000"
        error={problemOf('processor_config.timeout_ms')}
      />
    </div>
  );
}

/** Reads the line from the service's message: `SyntaxError: … (line 3 of the code).` */
function toEditorProblem({ message }: Problem): EditorProblem {
  const line = /\(line (\d+) of the code\)/.exec(message)?.[1];
  return { message, line: line === undefined ? undefined : Number(line) };
}
