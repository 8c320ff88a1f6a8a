import { Plus, SlidersHorizontal, Trash2 } from 'lucide-react';
import { useId, useState } from 'react';
import { Button, IconButton } from '../../ui/button.tsx';
import { Checkbox, Switch } from '../../ui/fields/checkbox.tsx';
import { Select } from '../../ui/fields/select.tsx';
import { TextField } from '../../ui/fields/text-field.tsx';
import { isObject } from '../../ui/json/read-json.ts';
import style from './inspector.module.css';
import { LinesField } from './lines-field.tsx';
import {
  addField,
  FIELD_TYPES,
  type FieldType,
  fitsForm,
  listFields,
  type Members,
  type SchemaField,
  typeOf,
  withFields,
  withKeyword,
  withType,
} from './schema-form.ts';

type Props = { schema: Members; onChange: (schema: Members) => void };

const TYPE_OPTIONS = FIELD_TYPES.map((type) => ({ id: type, label: type }));

/** Edits the fields of an object schema: name, type, required. Nested fields are shown below their field. */
export function SchemaRows({ schema, onChange }: Props) {
  const fields = listFields(schema);
  const names = new Set(fields.map(({ name }) => name));
  const change = (index: number, field: SchemaField) =>
    onChange(withFields(schema, fields.with(index, field)));
  return (
    <div className={style.names}>
      {fields.map((field, index) => (
        <Field
          // biome-ignore lint/suspicious/noArrayIndexKey: a field that is renamed is the same row
          key={index}
          field={field}
          isTaken={(name) => name !== field.name && names.has(name)}
          onChange={(changed) => change(index, changed)}
          onRemove={() => onChange(withFields(schema, fields.toSpliced(index, 1)))}
        />
      ))}
      <div className={style.sectionHead}>
        <Button size="small" onPress={() => onChange(addField(schema))}>
          <Plus size={14} aria-hidden /> Add field
        </Button>
        <Switch
          isSelected={schema.additionalProperties !== false}
          onChange={(isOn) => onChange(withKeyword(schema, 'additionalProperties', isOn ? undefined : false))}
        >
          Other fields allowed
        </Switch>
      </div>
    </div>
  );
}

type FieldProps = {
  field: SchemaField;
  isTaken: (name: string) => boolean;
  onChange: (field: SchemaField) => void;
  onRemove: () => void;
};

function Field({ field, isTaken, onChange, onRemove }: FieldProps) {
  const [isOpen, setOpen] = useState(false);
  const [written, setWritten] = useState<string>();
  const id = useId();
  const { name, schema, isRequired } = field;
  const type = typeOf(schema);
  const text = written ?? name;
  const setSchema = (schema: Members) => onChange({ ...field, schema });
  return (
    <div className={style.names}>
      <div className={style.row}>
        <TextField
          label={`Name of field ${name}`}
          hideLabel
          isMono
          value={text}
          error={isTaken(text) ? 'Another field has this name.' : undefined}
          onChange={setWritten}
          onBlur={() => {
            if (text !== name && text !== '' && !isTaken(text)) onChange({ ...field, name: text });
            setWritten(undefined);
          }}
        />
        <Select<FieldType>
          label={`Type of ${name}`}
          hideLabel
          options={TYPE_OPTIONS}
          placeholder="other"
          value={type ?? null}
          onChange={(type) => type !== schema.type && setSchema(withType(schema, type))}
        />
        <IconButton
          size="small"
          label={`More about ${name}`}
          aria-expanded={isOpen}
          aria-controls={id}
          onPress={() => setOpen(!isOpen)}
        >
          <SlidersHorizontal size={14} />
        </IconButton>
        <IconButton size="small" label={`Remove field ${name}`} onPress={onRemove}>
          <Trash2 size={14} />
        </IconButton>
      </div>
      <div id={id} hidden={!isOpen} className={isOpen ? style.nested : undefined}>
        {isOpen && (
          <>
            <Checkbox isSelected={isRequired} onChange={(isRequired) => onChange({ ...field, isRequired })}>
              Required
            </Checkbox>
            <TextField
              label={`Description of ${name}`}
              value={typeof schema.description === 'string' ? schema.description : ''}
              onChange={(text) => setSchema(withKeyword(schema, 'description', text || undefined))}
            />
            {type === 'string' && <Choices name={name} schema={schema} onChange={setSchema} />}
            {type === undefined && <p className={style.help}>The rest of this field is edited as JSON.</p>}
          </>
        )}
      </div>
      <Inner schema={schema} onChange={setSchema} />
    </div>
  );
}

/** Edits the allowed values of a string field. */
function Choices({ name, schema, onChange }: { name: string } & Props) {
  const values = Array.isArray(schema.enum) ? schema.enum.map(String) : [];
  return (
    <LinesField
      label={`Allowed values of ${name}`}
      values={values}
      help="One on each line; none allows any text."
      onChange={(values) => onChange(withKeyword(schema, 'enum', values))}
    />
  );
}

/** Edits the fields of a nested object, or the items of an array. */
function Inner({ schema, onChange }: Props) {
  if (schema.type === 'array' && isObject(schema.items)) {
    const { items } = schema;
    return (
      <div className={style.nested}>
        <Select<FieldType>
          label="Each item is"
          options={TYPE_OPTIONS}
          placeholder="other"
          value={typeOf(items) ?? null}
          onChange={(type) => type !== items.type && onChange({ ...schema, items: withType(items, type) })}
        />
        <Inner schema={items} onChange={(items) => onChange({ ...schema, items })} />
      </div>
    );
  }
  if (!fitsForm(schema)) return null;
  return (
    <div className={style.nested}>
      <SchemaRows schema={schema} onChange={onChange} />
    </div>
  );
}
