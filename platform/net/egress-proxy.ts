// Connects through an HTTP proxy (RFC 9110, CONNECT), for machines without another way out.
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { type DialTarget, withoutBrackets } from './resolve-public.ts';

/**
 * Connects to the first of the checked addresses that `proxy` (`http://[user:password@]host:port`) reaches. The proxy gets
 * addresses rather than names, since another look-up could lead elsewhere. Errors do not say where the proxy is.
 */
export async function connectThrough(
  proxy: URL,
  targets: [DialTarget, ...DialTarget[]],
  signal: AbortSignal,
): Promise<Socket> {
  let status: number | undefined;
  for (const target of targets) {
    const asking = ask(proxy, target, signal);
    const [answer, socket] = await once(asking, 'connect').catch(() => {
      throw new Error('the egress proxy does not answer');
    });
    status = (answer as IncomingMessage).statusCode ?? 0;
    if (status >= 200 && status < 300) return socket;
    socket.destroy();
  }
  throw new Error(`the egress proxy refused it with status ${status}`);
}

function ask(proxy: URL, { address, family, port }: DialTarget, signal: AbortSignal): ClientRequest {
  const authority = `${family === 6 ? `[${address}]` : address}:${port}`;
  const { hostname, username, password } = proxy;
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return (
    request({
      host: withoutBrackets(hostname),
      port: proxy.port || 80,
      method: 'CONNECT',
      path: authority,
      headers: {
        host: authority,
        ...(username !== '' && { 'proxy-authorization': `Basic ${btoa(credentials)}` }),
      },
      agent: false,
      signal,
    })
      // The request removes its own listeners from the socket when it is answered.
      .on('connect', (_answer, socket) => socket.on('error', () => undefined))
      .end()
  );
}
