// main: takes what OpenTelemetry sends, and drops it.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const server = createServer((request, response) => {
  request.resume().once('end', () => response.end());
});
server.listen(0, '127.0.0.1', () =>
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }),
);
process.once('disconnect', () => {
  server.close();
  server.closeAllConnections();
});
