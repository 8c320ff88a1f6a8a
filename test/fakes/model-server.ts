// An OpenAI-compatible server that misbehaves on cue.
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Provider } from '../../platform/config/config.ts';

/** Handles one call. */
export type Behaviour = (response: ServerResponse) => void;

/** `url` is the path of the request, with its query string. */
export type ModelCall = { url: string; headers: IncomingHttpHeaders; body: Record<string, unknown> };

export type FakeModelServer = {
  provider: Provider;
  /** Every call so far. */
  calls: ModelCall[];
  /**
   * Appends behaviours for the next calls; a call without a behaviour gets status 418. It hangs when the same request was told to
   * hang: on a busy machine the engine repeats an attempt that it believes lost.
   */
  will(...behaviours: Behaviour[]): void;
  /** Sets the behaviour for each call that has none of its own. */
  always(behaviour: (response: ServerResponse, call: ModelCall) => void): void;
  /** Drops the behaviours that no call has got. */
  forget(): void;
  /** Drops all behaviours and calls, and ends the calls that have no answer. */
  reset(): void;
  /** Resolves with the response of the next call, when its behaviour has been played. */
  nextCall(): Promise<ServerResponse>;
  close(): Promise<void>;
};

/** Answers with a normal completion: 10 prompt and 5 completion tokens, unless `usage` says otherwise. */
export function answer(
  content: string | null,
  { refusal = null as string | null, finish_reason = 'stop', usage = {} as unknown } = {},
): Behaviour {
  return respond(200, {
    id: 'chatcmpl-fake',
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content, refusal }, finish_reason }],
    usage: usage && { prompt_tokens: 10, completion_tokens: 5, ...usage },
  });
}

/** Answers with a completion that asks for tools; `calls` are as a provider writes them, `arguments` is JSON text. */
export function callTools(calls: unknown[], content: string | null = null): Behaviour {
  return respond(200, {
    id: 'chatcmpl-fake',
    object: 'chat.completion',
    choices: [
      { index: 0, message: { role: 'assistant', content, tool_calls: calls }, finish_reason: 'tool_calls' },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 5 },
  });
}

export function respond(status: number, body: unknown, headers: Record<string, string> = {}): Behaviour {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}

export const hang: Behaviour = () => undefined;

const unexpected = respond(418, { error: { message: 'no behaviour left' } });

export const hangMidBody: Behaviour = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).write('{"choices": [');
};

export const resetMidBody: Behaviour = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"choices": [', () => response.destroy());
};

export const sendForever: Behaviour = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const chunk = Buffer.alloc(1024 * 1024, ' ');
  const send = () => {
    while (response.write(chunk) && !response.destroyed);
  };
  response.on('drain', send);
  send();
};

export async function startFakeModelServer(): Promise<FakeModelServer> {
  const script: Behaviour[] = [];
  let otherwise: (response: ServerResponse, call: ModelCall) => void = unexpected;
  const calls: ModelCall[] = [];
  /** The requests that were told to hang. */
  const held = new Set<string>();
  const played = new EventEmitter();
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as ModelCall['body'];
    const call = { url: request.url ?? '', headers: request.headers, body };
    calls.push(call);
    const text = JSON.stringify(body);
    const behaviour = script.shift() ?? (held.has(text) ? hang : otherwise);
    if (behaviour === hang) held.add(text);
    behaviour(response, call);
    played.emit('call', response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    provider: {
      name: 'openai',
      api: 'openai-chat',
      baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
      apiKey: 'key-of-the-test',
    },
    calls,
    will: (...behaviours) => void script.push(...behaviours),
    always(behaviour) {
      otherwise = behaviour;
    },
    forget: () => void script.splice(0),
    reset() {
      script.length = 0;
      otherwise = unexpected;
      calls.length = 0;
      held.clear();
      server.closeAllConnections();
    },
    async nextCall() {
      const [response] = await once(played, 'call');
      return response;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
