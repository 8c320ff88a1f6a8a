// The fields of a run's input.

import { Plus, X } from 'lucide-react';
import { type DragEvent, useMemo, useState } from 'react';
import { Button, IconButton } from '../../ui/button.tsx';
import { CodeEditor } from '../../ui/code-editor/code-editor.tsx';
import { Select } from '../../ui/fields/select.tsx';
import { TextField } from '../../ui/fields/text-field.tsx';
import { formatBytes } from '../../ui/format.ts';
import { isObject, readJson } from '../../ui/json/read-json.ts';
import { Clipped, Row } from '../../ui/page.tsx';
import { ReturnFocus } from '../../ui/use-return-focus.ts';
import type { Step } from '../draft/steps.ts';
import {
  EDITED_MAX_CHARS,
  IMAGES_MAX,
  type Image,
  imageError,
  MIME_TYPES,
  type MimeType,
  parametersUsed,
  type TryInput,
  toolNames,
  typeOfImage,
} from './try-input.ts';
import style from './try-panel.module.css';

const TYPES = MIME_TYPES.map((id) => ({ id, label: id.replace('image/', '').toUpperCase() }));

const EXAMPLE = `[{
  "type": "function",
  "function": {
    "name": "get_weather",
    "parameters": { "type": "object", "properties": { "city": { "type": "string" } } }
  }
}]`;

type MessageFieldProps = { value: string; onChange: (value: string) => void };

type ParametersFieldProps = {
  /** JSON text. */
  value: string;
  onChange: (value: string) => void;
  error?: string | undefined;
  steps: Step[];
};

/** Edits the parameters of a run: one field per parameter that the flow uses, and JSON for all. */
export function ParametersField({ value, onChange, error, steps }: ParametersFieldProps) {
  const used = parametersUsed(steps);
  const parameters = useMemo(() => readObject(value), [value]);
  const set = (name: string, text: string) => {
    const { [name]: _, ...rest } = parameters ?? {};
    const next = text === '' ? rest : { ...rest, [name]: text };
    onChange(Object.keys(next).length === 0 ? '' : JSON.stringify(next, null, 2));
  };
  const texts = used.filter((name) => ['string', 'undefined'].includes(typeof parameters?.[name]));
  return (
    <>
      {parameters &&
        texts.map((name) => (
          <TextField
            key={name}
            label={`Parameter ${name}`}
            value={String(parameters[name] ?? '')}
            onChange={(text) => set(name, text)}
          />
        ))}
      <details className={style.more} open={error !== undefined || undefined}>
        <summary>Parameters as JSON{value.trim() !== '' && ' · in use'}</summary>
        <CodeEditor
          label="Parameters"
          hideLabel
          language="json"
          value={value}
          onChange={onChange}
          error={error}
          placeholder={used.length > 0 ? `{ "${used[0]}": "…" }` : '{ "language": "en" }'}
          lines={[3, 12]}
        />
      </details>
    </>
  );
}

/** Parses a JSON object; undefined for other texts, and for numbers that would lose digits when written again. */
function readObject(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {};
  const { value } = readJson(text);
  return isObject(value) ? value : undefined;
}

/** Edits the message of a run. A very long message, from a run that is tried again, cannot be edited. */
export function MessageField({ value, onChange }: MessageFieldProps) {
  const [isAnother, setAnother] = useState(false);
  if (value.length > EDITED_MAX_CHARS)
    return (
      <>
        <p className={style.faint}>
          The message has {formatBytes(value.length)}, too much to be edited here. It is sent as it is.
        </p>
        <Row>
          <Button
            size="small"
            onPress={() => {
              setAnother(true);
              onChange('');
            }}
          >
            Write another message
          </Button>
        </Row>
      </>
    );
  return (
    <TextField
      label="Message"
      rows={3}
      autoFocus={isAnother}
      value={value}
      onChange={onChange}
      help="The input of the first step, and {{message}} in prompts. Ctrl+Enter runs."
    />
  );
}

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
        help="Functions that you carry out: the run pauses at each call and asks you for the result. They go to blocks that can call tools."
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

/** Edits the images for the model calls, by URL: typed, pasted or dropped as a link. */
export function ImagesField({
  images,
  onChange,
  error,
}: {
  images: Image[];
  onChange: (images: Image[]) => void;
  error?: string | undefined;
}) {
  const [address, setAddress] = useState('');
  const [refused, setRefused] = useState<string>();

  function add(text: string) {
    const url = text.trim();
    if (url === '') return;
    const wrong = images.length >= IMAGES_MAX ? `At most ${IMAGES_MAX} images can be sent.` : imageError(url);
    setRefused(wrong);
    if (wrong) return;
    onChange([...images, { url, mime_type: typeOfImage(url) }]);
    setAddress('');
  }
  function drop(event: DragEvent) {
    event.preventDefault();
    const [link] = event.dataTransfer.getData('text/uri-list').split('\n');
    if (link) add(link);
    else if (event.dataTransfer.files.length > 0)
      setRefused(
        'Weir stores no images: put the file where the model’s provider can fetch it, and give its https address.',
      );
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a place to drop a link; the field does the same
    <div className={style.fields} onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      {images.map(({ url, mime_type }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an address may be there twice
        <div key={index} className={style.image}>
          <ReturnFocus />
          <Clipped text={url} />
          <Select
            label={`Type of image ${index + 1}`}
            hideLabel
            options={TYPES}
            value={mime_type}
            onChange={(type: MimeType) => onChange(images.with(index, { url, mime_type: type }))}
          />
          <IconButton
            label={`Remove image ${index + 1}`}
            size="small"
            onPress={() => onChange(images.toSpliced(index, 1))}
          >
            <X size={14} />
          </IconButton>
        </div>
      ))}
      <div className={style.image}>
        <TextField
          label="Image"
          value={address}
          onChange={setAddress}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return;
            event.preventDefault();
            add(address);
          }}
          error={refused ?? error}
          placeholder="https://example.com/river.png"
          help={`Up to ${IMAGES_MAX} images (JPEG, PNG, WebP, GIF), each by its public https address of at most 2,048 characters. The model’s provider fetches them.`}
        />
        <Button size="small" onPress={() => add(address)}>
          <Plus size={14} aria-hidden /> Add
        </Button>
      </div>
    </div>
  );
}
