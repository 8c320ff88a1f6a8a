import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { createHttpServer } from '../../../api/http/http-server.ts';
import { waitUntil } from '../../wait-until.ts';

/** Far longer than a test may take. */
const ENDLESS_MS = 3_600_000;
const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const LAST_GET = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
/** Heads are late at the first look, which comes with the drain or later. */
const LATE_AT_ONCE = { headersMs: 1, lookMs: 500 };
const HALF_A_HEAD = 'GET / HTTP/1.1\r\n';

describe('an HTTP server that drains', () => {
  let server: Server;
  let drain: (drainMs: number) => Promise<void>;
  afterEach(() => server.closeAllConnections());

  async function listen(answer: (request: IncomingMessage, response: ServerResponse) => void, timings = {}) {
    ({ server, drain } = createHttpServer(answer, timings));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  const answerAll = (_request: IncomingMessage, response: ServerResponse) => void response.end('ok');
  /** Opens a connection and waits until the server has it, with all that is sent on it. */
  async function open(sent: string): Promise<Socket> {
    const accepted = once(server, 'connection');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => undefined).write(sent);
    const [other] = (await accepted) as [Socket];
    await waitUntil(() => other.bytesRead === sent.length);
    return socket;
  }

  it('closes a connection on which nothing was asked, without an answer', async () => {
    await listen(answerAll);
    const answer = text(await open(''));
    await drain(ENDLESS_MS);
    assert.equal(await answer, '');
  });

  it('answers a request whose head was arriving', async () => {
    await listen(answerAll);
    const socket = await open(HALF_A_HEAD);
    const drained = drain(ENDLESS_MS);
    socket.write('Host: x\r\nConnection: close\r\n\r\n');
    assert.match(await text(socket), /^HTTP\/1\.1 200 OK\r\n/);
    await drained;
  });

  for (const [which, before] of [
    ['the first', ''],
    ['a later', GET],
  ] as const)
    it(`answers 408 when the head of ${which} request on a connection does not arrive in time`, async () => {
      await listen(answerAll, LATE_AT_ONCE);
      const answer = text(await open(before + HALF_A_HEAD));
      await drain(ENDLESS_MS);
      assert.match(await answer, /HTTP\/1\.1 408 Request Timeout\r\n[\s\S]*"code":"REQUEST_TIMEOUT"/);
    });

  it('sends an answer to its last byte, though it has ended and others close meanwhile', async () => {
    const large = 'x'.repeat(32 * 1024 * 1024);
    const answers: ServerResponse[] = [];
    await listen((_request, response) => answers.push(response));
    const [slow, quick] = [await open(LAST_GET), await open(LAST_GET)];
    await waitUntil(() => answers.length === 2);
    slow.pause();
    answers[0]?.end(large);
    const drained = drain(ENDLESS_MS);
    answers[1]?.end('ok');
    assert.match(await text(quick), /ok$/);
    assert.ok((await text(slow)).endsWith(large));
    await drained;
  });

  it('waits for an answer for longer than a head may take', async () => {
    const { promise: late, resolve } = Promise.withResolvers<ServerResponse>();
    await listen((_request, response) => resolve(response), LATE_AT_ONCE);
    const answer = text(await open(LAST_GET));
    const refused = text(await open(HALF_A_HEAD));
    const drained = drain(ENDLESS_MS);
    assert.match(await refused, /^HTTP\/1\.1 408 /);
    (await late).end('done');
    assert.match(await answer, /^HTTP\/1\.1 200 OK\r\n[\s\S]*done$/);
    await drained;
  });
});
