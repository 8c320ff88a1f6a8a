// An OpenAI-compatible server that answers every prompt after a while and counts how often each was asked, and with what.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export type CountingModelServer = {
  url: string;
  asked: Map<string, number>;
  keys: Map<string, Set<string>>;
  close(): Promise<void>;
};

/**
 * `url` is the base URL for an OpenAI client; `asked` maps a prompt to the number of requests that carried it, `keys` to
 * the keys they came with.
 */
export async function startCountingModelServer(delayMs: number): Promise<CountingModelServer> {
  const asked = new Map<string, number>();
  const keys = new Map<string, Set<string>>();
  const server = createServer(async (request, response) => {
    const { messages } = (await json(request)) as { messages: { content: string }[] };
    const prompt = messages.at(-1)?.content ?? '';
    asked.set(prompt, (asked.get(prompt) ?? 0) + 1);
    const key = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
    keys.set(prompt, (keys.get(prompt) ?? new Set()).add(key));
    setTimeout(() => {
      response.setHeader('content-type', 'application/json');
      const message = { role: 'assistant', content: `answer to ${prompt}` };
      const usage = { prompt_tokens: 1_000, completion_tokens: 1_000 };
      response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage }));
    }, delayMs);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    keys,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
