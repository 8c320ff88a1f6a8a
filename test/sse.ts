// Reads Server-Sent Events.
import assert from 'node:assert/strict';

// biome-ignore lint/suspicious/noExplicitAny: tests look into data of every shape, and assert what they find
export type SseMessage = { id: string; event: string; data: any };
export type SseEvent = Omit<SseMessage, 'id'> & { id: number };

/** Yields the events of an open stream one at a time, until the stream ends. */
export async function* readMessages(response: Response): AsyncGenerator<SseMessage> {
  assert.equal(response.status, 200);
  assert(response.body);
  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const messages = (text + chunk).split('\n\n');
    text = messages.pop() ?? '';
    for (const message of messages) {
      const fields = new Map(message.split('\n').map((line) => line.split(/: (.*)/s) as [string, string]));
      const data = fields.get('data');
      if (data !== undefined)
        yield {
          id: fields.get('id') ?? '',
          event: fields.get('event') ?? '',
          data: JSON.parse(data),
        };
    }
  }
  // Comments and the time to reconnect belong to no event.
  assert.match(text, /^(?::.*\n|retry: \d+\n)*$/, 'the stream ended within an event');
}

/** Events of a run that have no id, as they are told again to a reader who comes back. */
const UNDER_WAY = ['block_started', 'block_retrying'];

/** Yields the same for streams whose ids are numbers, without what is told of blocks under way. */
export async function* readEvents(response: Response): AsyncGenerator<SseEvent> {
  for await (const { id, ...message } of readMessages(response))
    if (!UNDER_WAY.includes(message.event)) yield { ...message, id: Number(id) };
}
