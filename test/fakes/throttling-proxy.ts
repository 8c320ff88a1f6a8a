// A proxy of an S3 server that refuses what comes too fast, as AWS does: 503 SlowDown.
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

const SLOW_DOWN = '<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>';

export type ThrottlingProxy = {
  url: string;
  /** Refuses the next `count` requests. */
  refuse(count: number): void;
  close(): Promise<void>;
};

/** Starts a proxy of the S3 server at `target`. */
export async function startThrottlingProxy(target: string): Promise<ThrottlingProxy> {
  let left = 0;
  const server = createServer((incoming, outgoing) => {
    if (left > 0) {
      left -= 1;
      incoming.resume();
      return void outgoing.writeHead(503, { 'content-type': 'application/xml' }).end(SLOW_DOWN);
    }
    const { method, url, headers } = incoming;
    const onward = request(new URL(url ?? '/', target), { method, headers }, (answer) => {
      // The caller has gone.
      if (outgoing.destroyed) return void answer.destroy();
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      pipeline(answer, outgoing, () => undefined);
    });
    onward.on('error', () => outgoing.destroy());
    pipeline(incoming, onward, () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refuse(count) {
      left = count;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
