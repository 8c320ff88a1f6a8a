import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fail, weirIn } from '../cli-harness.ts';

describe('weir operator credits grant, when answers are lost', () => {
  const id = randomUUID();
  const keys: unknown[] = [];
  let lost: number;
  let isReplayed = false;
  let server: Server;
  before(async () => {
    server = createServer((request, response) => {
      request.resume().on('end', () => {
        if (request.method === 'GET') {
          const isMe = request.url === '/api/v1/me';
          const me = { kind: 'operator', keyId: 'AAAAAAAA', name: 'ann' };
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(JSON.stringify(isMe ? me : { id, slug: 'acme', name: 'Acme' }));
          return;
        }
        keys.push(request.headers['idempotency-key']);
        lost -= 1;
        if (lost >= 0) {
          request.socket.destroy();
          return;
        }
        if (keys.length > 1 || isReplayed) response.setHeader('idempotent-replayed', 'true');
        response.writeHead(201, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ organizationId: id, credits: 10, key: keys.at(-1), balance: 10 }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  after(() => server.close());
  beforeEach(() => {
    keys.length = 0;
  });
  function grant(...args: string[]) {
    const WEIR_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return weirIn({ WEIR_URL, WEIR_OPERATOR_KEY: 'key' }, [
      ...['operator', 'credits', 'grant', 'acme', '10'],
      ...args,
    ]);
  }

  it('sends the grant once more with the same key', async () => {
    lost = 1;
    const { stdout, stderr } = await grant();
    assert.match(stdout, /has been granted 10 credits; its balance is 10\./, stderr);
    assert.equal(keys.length, 2);
    assert.equal(keys[0], keys[1]);
  });

  it('names the key with which the grant can be repeated, and says that it may have been made', async () => {
    lost = 2;
    const stderr = await fail(1, grant());
    assert.match(stderr, /The change may have been made: check before you repeat the command\./);
    assert.ok(stderr.includes(`--idempotency-key ${keys[0]} `), stderr);
    assert.doesNotMatch(stderr, /Start it/);
  });

  it('says when a grant with the given key was made before', async () => {
    lost = 0;
    isReplayed = true;
    const { stdout } = await grant('--idempotency-key', 'invoice-17');
    assert.match(stdout, /^A grant with this key was made before, so nothing changed/);
  });
});
