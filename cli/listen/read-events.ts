type Event = { event: string; data: unknown };

/** Yields the events of a stream of Server-Sent Events whose data is one line of JSON; throws when it breaks off. */
export async function* readEvents(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<Event> {
  let text = '';
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    const parts = (text + chunk).split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const data = /^data: (.*)$/m.exec(part)?.[1];
      if (data !== undefined) yield { event: /^event: (.*)$/m.exec(part)?.[1] ?? '', data: JSON.parse(data) };
    }
  }
}
