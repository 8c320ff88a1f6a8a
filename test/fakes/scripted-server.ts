// A server of a paid API that checks each request as the real one does, and then plays what a test has told it.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Behaviour, respond } from './model-server.ts';

export type ScriptedCall = {
  headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into requests of many shapes.
  body: any;
  /** As it came. */
  text: string;
};

/** The answer to a request that the server refuses. */
export type Refusal = { status: number; body: unknown };

export type ScriptedServer = {
  /** The address of the server, without a path. */
  origin: string;
  /** Every call that was not refused. */
  calls: ScriptedCall[];
  /** The bodies of all refusals. */
  refused: unknown[];
  /** Appends behaviours for the next calls; a call without one gets status 418. */
  will(...behaviours: Behaviour[]): void;
  close(): Promise<void>;
};

const unexpected = respond(418, { error: { message: 'no behaviour left' } });

/** Starts a server; `check` returns why it refuses a request, or undefined. */
export async function startScriptedServer(
  check: (request: IncomingMessage, call: ScriptedCall) => Refusal | undefined,
): Promise<ScriptedServer> {
  const script: Behaviour[] = [];
  const calls: ScriptedCall[] = [];
  const refused: unknown[] = [];
  const server = createServer(async (request, response) => {
    const sent = await text(request);
    const call = { headers: request.headers, body: JSON.parse(sent || 'null'), text: sent };
    const refusal = check(request, call);
    if (refusal) {
      refused.push(refusal.body);
      return respond(refusal.status, refusal.body)(response);
    }
    calls.push(call);
    (script.shift() ?? unexpected)(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    refused,
    will: (...behaviours) => void script.push(...behaviours),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
