import { Braces, List, Plus, Trash2 } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button, IconButton } from '../../ui/button.tsx';
import { CodeEditor } from '../../ui/code-editor/code-editor.tsx';
import { findChangedNumber, isObject, readJson } from '../../ui/json/read-json.ts';
import type { SequentialStep } from '../draft/steps.ts';
import style from './inspector.module.css';
import { FIRST_SCHEMA, fitsForm, type JsonSchema } from './schema-form.ts';
import { SchemaRows } from './schema-rows.tsx';
import { useStep } from './use-step.ts';

type Props = {
  title: string;
  help: string;
  schema: JsonSchema | undefined;
  onChange: (schema: JsonSchema | undefined) => void;
  error: string | undefined;
};

type JsonProps = { title: string; schema: JsonSchema; onChange: (schema: JsonSchema) => void };

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

/** Edits a JSON Schema, as a list of fields when it describes an object, or as JSON. */
function SchemaEditor({ title, help, schema, onChange, error }: Props) {
  const isForm = fitsForm(schema);
  // A schema that starts to fit the field list while it is typed stays in the JSON editor.
  const [wantsJson, setWantsJson] = useState(schema !== undefined && !isForm);
  if (schema !== undefined && !isForm && !wantsJson) setWantsJson(true);
  const asForm = isForm && !wantsJson;
  return (
    <section className={style.section} aria-label={title}>
      <div className={style.sectionHead}>
        <h3>{title}</h3>
        {schema === undefined ? (
          <Button
            size="small"
            onPress={() => onChange(FIRST_SCHEMA)}
            aria-label={`Add ${title.toLowerCase()}`}
          >
            <Plus size={14} aria-hidden /> Add
          </Button>
        ) : (
          <span>
            {isForm && (
              <IconButton
                size="small"
                label={
                  asForm ? `Edit ${title.toLowerCase()} as JSON` : `Edit ${title.toLowerCase()} as fields`
                }
                onPress={() => setWantsJson(!wantsJson)}
              >
                {asForm ? <Braces size={14} /> : <List size={14} />}
              </IconButton>
            )}
            <IconButton
              size="small"
              label={`Remove ${title.toLowerCase()}`}
              onPress={() => {
                setWantsJson(false);
                onChange(undefined);
              }}
            >
              <Trash2 size={14} />
            </IconButton>
          </span>
        )}
      </div>
      <p className={style.help}>{help}</p>
      {asForm && <SchemaRows schema={schema} onChange={onChange} />}
      {schema !== undefined && !asForm && <SchemaJson title={title} schema={schema} onChange={onChange} />}
      {error && <p className={style.problem}>{error}</p>}
    </section>
  );
}

/** Edits a schema as JSON. Invalid text stays in the editor and changes nothing. */
function SchemaJson({ title, schema, onChange }: JsonProps) {
  const kept = JSON.stringify(schema);
  const [text, setText] = useState(() => JSON.stringify(schema, null, 2));
  useEffect(() => {
    setText((text) =>
      JSON.stringify(parse(text)) === kept ? text : JSON.stringify(JSON.parse(kept), null, 2),
    );
  }, [kept]);
  const isWrong = parse(text) === undefined;
  return (
    <CodeEditor
      label={`${title} as JSON`}
      hideLabel
      language="json-schema"
      value={text}
      lines={[4, 20]}
      error={
        findChangedNumber(text) ??
        (isWrong ? 'This is not a JSON Schema yet; the draft keeps the one before.' : undefined)
      }
      onChange={(text) => {
        setText(text);
        const parsed = parse(text);
        if (parsed !== undefined) onChange(parsed);
      }}
    />
  );
}

function parse(text: string): JsonSchema | undefined {
  const { value } = readJson(text);
  return typeof value === 'boolean' || isObject(value) ? value : undefined;
}
