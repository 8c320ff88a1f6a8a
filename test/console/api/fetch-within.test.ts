import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fetchWithin } from '../../../console/api/fetch-within.ts';

const SILENCE_MAX_MS = 50;

describe('a request of the console', () => {
  let server: Server;
  let url: string;

  before(async () => {
    server = createServer((request, response) => {
      if (request.url === '/begun') response.write('{"a":');
      if (request.url === '/whole') response.end('{"a":1}');
      if (request.url === '/empty') response.writeHead(204).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  it('is aborted when no response comes, and says that a change may have been made', async () => {
    const fails = (method: string) => fetchWithin(new Request(`${url}/silent`, { method }), SILENCE_MAX_MS);
    await assert.rejects(fails('GET'), { code: 'TIMED_OUT', message: /cannot be reached/ });
    await assert.rejects(fails('POST'), { code: 'TIMED_OUT', message: /the change may have been made/ });
  });

  it('is aborted when its response stops', async () => {
    const response = await fetchWithin(new Request(`${url}/begun`), SILENCE_MAX_MS);
    await assert.rejects(response.json(), TypeError);
  });

  it('has the response that comes in time', async () => {
    const whole = await fetchWithin(new Request(`${url}/whole`), 60_000);
    assert.deepEqual(await whole.json(), { a: 1 });
    assert.equal((await fetchWithin(new Request(`${url}/empty`), 60_000)).status, 204);
  });
});
