// A proxy before a PostgreSQL that lets in only those who ask for TLS, as poolers may.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';

/** Starts a proxy of the PostgreSQL at `target`; `url` asks for TLS with a certificate for localhost. */
export async function startTlsProxy(
  target: string,
  certificate: { cert: string; key: string; authorityFile: string },
): Promise<{ url: string; close(): Promise<void> }> {
  const { hostname, port } = new URL(target);
  const secureContext = createSecureContext(certificate);
  const sockets = new Set<Socket>();
  const track = (socket: Socket) => {
    sockets.add(socket);
    return socket.on('error', () => undefined);
  };
  const server = createServer((near) => {
    track(near).once('data', (request) => {
      if (!request.equals(SSL_REQUEST)) return void near.destroy();
      near.write('S');
      const secured = track(new TLSSocket(near, { isServer: true, secureContext }));
      const far = track(connect(Number(port), hostname));
      secured.pipe(far).pipe(secured);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = Object.assign(new URL(target), {
    host: `localhost:${(server.address() as AddressInfo).port}`,
    search: `sslmode=verify-full&sslrootcert=${certificate.authorityFile}`,
  });
  return {
    url: url.href,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
