// An OpenAI-compatible server that answers every prompt after a while, and counts how often it came and with which keys.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

type Held = {
  /** Resolves once `count` prompts wait for their answers. */
  arrived(count: number): Promise<void>;
  /** Answers the prompts that wait, and all later ones. */
  release(): void;
};

export type CountingModelServer = {
  url: string;
  asked: Map<string, number>;
  keys: Map<string, Set<string>>;
  /** Holds back the answers to prompts that begin like this, from now on. */
  hold(beginning: string): Held;
  close(): Promise<void>;
};

/**
 * Starts the server. `url` is the base URL for an OpenAI client; `asked` maps a prompt to the number of requests that
 * carried it, `keys` to the keys that came with them.
 */
export async function startCountingModelServer(delayMs: number): Promise<CountingModelServer> {
  const asked = new Map<string, number>();
  const keys = new Map<string, Set<string>>();
  let held: { beginning: string; answers: Map<string, () => void> } | undefined;
  const server = createServer(async (request, response) => {
    const { messages } = (await json(request)) as { messages: { content: string }[] };
    const prompt = messages.at(-1)?.content ?? '';
    asked.set(prompt, (asked.get(prompt) ?? 0) + 1);
    const key = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
    keys.set(prompt, (keys.get(prompt) ?? new Set()).add(key));
    const answer = () => {
      response.setHeader('content-type', 'application/json');
      const message = { role: 'assistant', content: `answer to ${prompt}` };
      const usage = { prompt_tokens: 1_000, completion_tokens: 1_000 };
      response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage }));
    };
    if (!held || !prompt.startsWith(held.beginning)) return void setTimeout(answer, delayMs);
    held.answers.set(prompt, answer);
    server.emit('held');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    keys,
    hold(beginning) {
      const answers = new Map<string, () => void>();
      held = { beginning, answers };
      return {
        async arrived(count) {
          while (answers.size < count) await once(server, 'held');
        },
        release() {
          held = undefined;
          for (const answer of answers.values()) answer();
        },
      };
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
