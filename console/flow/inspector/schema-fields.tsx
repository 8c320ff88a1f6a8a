import type { SequentialStep } from '../draft/steps.ts';
import { SchemaEditor } from './schema-editor.tsx';
import { useStep } from './use-step.ts';

/** Edits the JSON Schemas of a block's input and output. */
export function SchemaFields({ step }: { step: SequentialStep }) {
  const { set, problemOf } = useStep(step);
  return (
    <>
      <SchemaEditor
        title="Output schema"
        help={
          step.processor_type === 'llm'
            ? 'The model answers in this shape, and later prompts can use its fields.'
            : 'The output must match it; later prompts can use its fields.'
        }
        schema={step.outputSchema}
        onChange={(schema) => set('outputSchema', schema, 'output schema')}
        error={problemOf('outputSchema')}
      />
      <SchemaEditor
        title="Input schema"
        help="The block fails when its input does not match."
        schema={step.inputSchema}
        onChange={(schema) => set('inputSchema', schema, 'input schema')}
        error={problemOf('inputSchema')}
      />
    </>
  );
}
