// A reader of Server-Sent Events, for tests.
import assert from 'node:assert/strict';

// biome-ignore lint/suspicious/noExplicitAny: tests look into data of every shape, and assert what they find
export type SseEvent = { id: number; event: string; data: any };

/** The events of an open stream, one at a time; ends with the stream. */
export async function* readEvents(response: Response): AsyncGenerator<SseEvent> {
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
          id: Number(fields.get('id')),
          event: fields.get('event') ?? '',
          data: JSON.parse(data),
        };
    }
  }
  assert.equal(text, '', 'the stream ended within an event');
}
