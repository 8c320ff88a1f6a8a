import type { Schemas } from '../../api/client.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { formatBytes } from '../../ui/format.ts';
import { JsonView } from '../../ui/json-view.tsx';
import style from './detail.module.css';
import { ValueView } from './value-view.tsx';

type Message = { role: string; content?: unknown; tool_calls?: unknown };

/** Shows a block's request: the messages to its model as a conversation, or its code. */
export function SentView({ block, url }: { block: Schemas['BlockDetail']; url: string }) {
  const { sent, sentBytes: bytes } = block;
  const messages = messagesOf(sent);
  if (block.processor_type === 'code' && typeof sent === 'string')
    return (
      <section className={style.value}>
        <h3>
          Code <span className={style.faint}>{formatBytes(bytes)}</span>
        </h3>
        <CodeBlock text={sent} label="Code" />
      </section>
    );
  if (!messages)
    return (
      <ValueView
        label={block.processor_type === 'code' ? 'Code' : 'Sent'}
        value={sent}
        bytes={bytes}
        url={url}
        none="Nothing was sent."
      />
    );
  const { messages: _, ...rest } = sent as Record<string, unknown>;
  return (
    <section className={style.value}>
      <h3>
        Sent to the model <span className={style.faint}>{formatBytes(bytes)}</span>
      </h3>
      <ol className={style.messages}>
        {messages.map((message, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: messages do not move
          <li key={index}>
            <span className={style.role}>{message.role}</span>
            {message.content != null && message.content !== '' && (
              <JsonView value={message.content} label={`Message ${index + 1}, ${message.role}`} />
            )}
            {message.tool_calls !== undefined && (
              <JsonView value={message.tool_calls} label={`Tool calls of message ${index + 1}`} />
            )}
          </li>
        ))}
      </ol>
      {Object.keys(rest).length > 1 && <JsonView value={rest} label="Further settings sent" />}
    </section>
  );
}

function messagesOf(sent: unknown): Message[] | undefined {
  const messages = (sent as { messages?: unknown } | null | undefined)?.messages;
  return Array.isArray(messages) && messages.every((message) => typeof message?.role === 'string')
    ? messages
    : undefined;
}
