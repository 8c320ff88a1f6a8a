// Requests that are sent ahead on one connection (HTTP pipelining).
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { createHttpServer, PIPELINED_MAX } from '../../../api/http/http-server.ts';
import { captureLog } from '../../capture-log.ts';

describe('the HTTP server', () => {
  let server: Server;
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  async function listen(answer: (request: IncomingMessage, response: ServerResponse) => void, timings = {}) {
    server = createHttpServer(answer, timings).server;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  function open(request: string): Socket {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => undefined).write(request);
    return socket;
  }
  const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

  it('closes a connection with too many unanswered requests', async () => {
    const begun: ServerResponse[] = [];
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    await listen((_request, response) => {
      begun.push(response);
      response.once('close', resolve);
    });
    const socket = open(GET.repeat(PIPELINED_MAX + 1));
    await once(socket, 'close');
    await gone;
    assert.equal(begun.length, 1);
  });

  /** Keeps the answer to the first of these requests, and answers the others; tells which were begun. */
  async function keepFirst(timings = {}) {
    const begun: (string | undefined)[] = [];
    const { promise: first, resolve } = Promise.withResolvers<ServerResponse>();
    await listen((request, response) => {
      begun.push(request.url);
      if (request.url === '/first') resolve(response);
      else response.end(`${request.url} ${response.socket !== null};`);
    }, timings);
    return { begun, first };
  }
  const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;

  it('begins a request once the earlier answers of its connection are sent, whatever other connections do', async () => {
    const { begun, first } = await keepFirst();
    const answers = text(open(get('/first') + get('/second') + get('/third', 'Connection: close\r\n')));
    const kept = await first;
    await text(open(get('/other', 'Connection: close\r\n')));
    assert.deepEqual(begun, ['/first', '/other']);
    kept.end('done;');
    assert.match(await answers, /done;[\s\S]*\/second true;[\s\S]*\/third true;$/);
    assert.deepEqual(begun, ['/first', '/other', '/second', '/third']);
  });

  it('begins no request that waits on a connection whose reader has gone, or that is closed after an answer', async () => {
    const { begun, first } = await keepFirst();
    const socket = open(get('/first') + get('/second'));
    const closed = once(await first, 'close');
    socket.destroy();
    await closed;
    await text(open(get('/last', 'Connection: close\r\n') + get('/second')));
    assert.deepEqual(begun, ['/first', '/last']);
  });

  it('begins no request that waits and does not arrive in time, and logs it', async () => {
    const { begun, first } = await keepFirst({ requestMs: 200, headersMs: 200, lookMs: 20 });
    server.once('clientError', async () => (await first).end('done'));
    const { lines, stop } = captureLog();
    const post = 'POST /second HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{';
    const answer = await text(open(get('/first') + post));
    stop();
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n[\s\S]*done$/);
    const reasons = lines.filter(({ msg }) => msg === 'Request').map(({ reason }) => reason);
    assert.deepEqual([begun, reasons], [['/first'], ['ERR_HTTP_REQUEST_TIMEOUT']]);
  });

  it('cuts no earlier answer where the body of a request that waits is too large to be read meanwhile', async () => {
    const { begun, first } = await keepFirst({
      requestMs: 200,
      headersMs: 200,
      lookMs: 20,
      lastAnswersMs: 50,
    });
    const late = once(server, 'clientError');
    const length = 2_000_000;
    const post = `POST /second HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n${'x'.repeat(length)}`;
    const answer = text(open(get('/first') + post));
    await late;
    await setTimeout(200);
    (await first).end('done');
    assert.match(await answer, /^HTTP\/1\.1 200 OK\r\n[\s\S]*done$/);
    assert.deepEqual(begun, ['/first']);
  });

  it('answers as many requests as may wait, in their order', async () => {
    let number = 0;
    await listen((_request, response) => void response.end(`answer ${number++};`));
    const socket = open(GET.repeat(PIPELINED_MAX - 1) + GET.replace('Host', 'Connection: close\r\nHost'));
    const answers = [...(await text(socket)).matchAll(/answer (\d+);/g)].map(([, index]) => Number(index));
    assert.deepEqual(
      answers,
      Array.from({ length: PIPELINED_MAX }, (_, index) => index),
    );
  });
});
