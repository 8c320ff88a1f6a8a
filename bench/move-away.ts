import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Serves what listens at `address` (host:port) once more, `ms` further away there and back; returns that address. */
export async function moveAway(
  address: string,
  ms: number,
  onStop: (stop: () => Promise<void>) => void,
): Promise<string> {
  const [host, port] = address.split(':');
  const server = createServer((client) => {
    const near = connect(Number(port), host);
    forward(client, near, ms / 2);
    forward(near, client, ms / 2);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onStop(async () => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function forward(from: Socket, to: Socket, ms: number): void {
  from.setNoDelay(true);
  from.on('error', () => to.destroy());
  from.on('data', (chunk) => void setTimeout(() => to.writable && to.write(chunk), ms));
  from.on('end', () => void setTimeout(() => to.end(), ms));
}
