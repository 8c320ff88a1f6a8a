import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../../ui/button.tsx';
import { Select } from '../../ui/fields/select.tsx';
import { TextField } from '../../ui/fields/text-field.tsx';
import type { SequentialStep } from '../draft/steps.ts';
import style from './inspector.module.css';
import { type BlockConfig, useStep } from './use-step.ts';

type Message = NonNullable<BlockConfig['messages']>[number];

const MESSAGES_MAX = 100;
const NONE: Message[] = [];
const ROLES = [
  { id: 'user', label: 'User' },
  { id: 'assistant', label: 'Assistant' },
] as const;

/** Edits the example messages of a model call. A blank message is shown while it is written, and not kept. */
export function ExampleMessages({ step }: { step: SequentialStep }) {
  const { configure, problemOf } = useStep(step);
  const kept = step.processor_config?.messages ?? NONE;
  const [typed, setTyped] = useState(kept);
  const messages = JSON.stringify(withoutBlank(typed)) === JSON.stringify(kept) ? typed : kept;
  function change(messages: Message[]) {
    setTyped(messages);
    const written = withoutBlank(messages);
    if (JSON.stringify(written) !== JSON.stringify(kept))
      configure('messages', written.length > 0 ? written : undefined);
  }
  return (
    <section className={style.section} aria-label="Example messages">
      <div className={style.sectionHead}>
        <h3>Example messages</h3>
        <Button
          size="small"
          isDisabled={messages.length >= MESSAGES_MAX}
          aria-label="Add example message"
          onPress={() => change([...messages, { role: nextRole(messages), content: '' }])}
        >
          <Plus size={14} aria-hidden /> Add
        </Button>
      </div>
      <p className={style.help}>
        Questions with the answers you want. Sent before the prompt, without variables.
      </p>
      {messages.map(({ role, content }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a message has nothing else that stays the same
        <div key={index} className={style.names}>
          <div className={style.sectionHead}>
            <Select
              label={`Role of example message ${index + 1}`}
              hideLabel
              options={ROLES}
              value={role}
              onChange={(role) => change(messages.with(index, { role, content }))}
            />
            <IconButton
              size="small"
              label={`Remove example message ${index + 1}`}
              onPress={() => change(messages.toSpliced(index, 1))}
            >
              <Trash2 size={14} />
            </IconButton>
          </div>
          <TextField
            label={`Example message ${index + 1}`}
            hideLabel
            rows={3}
            value={content}
            placeholder={role === 'user' ? 'A message to the model' : 'The answer you want'}
            onChange={(content) => change(messages.with(index, { role, content }))}
          />
        </div>
      ))}
      {problemOf('processor_config.messages') && (
        <p className={style.problem}>{problemOf('processor_config.messages')}</p>
      )}
    </section>
  );
}

function withoutBlank(messages: Message[]): Message[] {
  return messages.filter(({ content }) => content.trim() !== '');
}

/** Returns the other role than that of the last message: turns alternate. */
function nextRole(messages: Message[]): Message['role'] {
  return messages.at(-1)?.role === 'user' ? 'assistant' : 'user';
}
