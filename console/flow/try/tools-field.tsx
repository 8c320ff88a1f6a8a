import { CodeEditor } from '../../ui/code-editor/code-editor.tsx';
import { Select } from '../../ui/select.tsx';
import { type TryInput, toolNames } from './try-input.ts';

const EXAMPLE = `[{
  "type": "function",
  "function": {
    "name": "get_weather",
    "parameters": { "type": "object", "properties": { "city": { "type": "string" } } }
  }
}]`;

/** Edits the tools that blocks may call, and the tool choice. */
export function ToolsField({
  input,
  onChange,
  error,
}: {
  input: TryInput;
  onChange: (changed: Partial<TryInput>) => void;
  error?: string | undefined;
}) {
  const named = toolNames(input.tools).map((name) => ({ id: name, label: `Must call ${name}` }));
  return (
    <>
      <CodeEditor
        label="Tools"
        language="json"
        value={input.tools}
        onChange={(tools) => onChange({ tools })}
        error={error}
        placeholder={EXAMPLE}
        lines={[3, 14]}
        help="Functions that you carry out: the run pauses at each call and asks you for the result. They go to blocks with tools enabled."
      />
      {input.tools.trim() !== '' && (
        <Select
          label="Use of tools"
          options={[
            { id: 'auto', label: 'As the model likes' },
            { id: 'required', label: 'Must call one' },
            { id: 'none', label: 'Must call none' },
            ...named,
          ]}
          value={input.toolChoice}
          onChange={(toolChoice) => onChange({ toolChoice })}
        />
      )}
    </>
  );
}
