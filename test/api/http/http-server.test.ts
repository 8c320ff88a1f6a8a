// The limits of one connection.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Meter } from '@opentelemetry/api';
import { createHttpServer } from '../../../api/http/http-server.ts';
import { bindInstruments } from '../../../platform/observability/metrics/instruments.ts';
import { captureLog } from '../../capture-log.ts';

const QUICK = { headersMs: 200, requestMs: 400, lookMs: 20, unreadLookMs: 20, lastAnswersMs: 100 };

describe('the HTTP server', () => {
  let server: Server;
  let sockets: Socket[];
  beforeEach(() => {
    sockets = [];
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
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
    socket.on('error', () => undefined);
    socket.write(request);
    sockets.push(socket);
    return socket;
  }
  /** Sends a request; returns its answer, and what was logged and counted meanwhile. */
  async function noted(request: string) {
    const counted: object[] = [];
    bindInstruments({
      createHistogram: () => ({ record: () => undefined }),
      createCounter: (name: string) => ({
        add: (count: number, labels: object) =>
          count > 0 && name === 'weir.http.unreadable_requests' && counted.push(labels),
      }),
      createObservableGauge: () => ({ addCallback: () => undefined }),
      createObservableCounter: () => ({ addCallback: () => undefined }),
    } as unknown as Meter);
    const { lines, stop } = captureLog();
    const answer = await text(open(request));
    stop();
    bindInstruments(undefined);
    return { answer, lines, counted };
  }
  const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

  for (const [what, request, status, reason] of [
    ['is not HTTP', 'the secret plan\r\n\r\n', 400, 'HPE_INVALID_METHOD'],
    [
      'has large headers',
      `GET /secret HTTP/1.1\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`,
      431,
      'HPE_HEADER_OVERFLOW',
    ],
    ['is late', 'GET /secret HTTP/1.1\r\nHost: x\r\n', 408, 'ERR_HTTP_REQUEST_TIMEOUT'],
    ['is a CONNECT', 'CONNECT secret:80 HTTP/1.1\r\nHost: x\r\n\r\n', 400, undefined],
  ] as const)
    it(`logs and counts a request that ${what}, and nothing of what it says`, async () => {
      await listen(() => undefined, QUICK);
      const { answer, lines, counted } = await noted(request);
      assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `));
      const [line, ...others] = lines.filter(({ msg }) => msg === 'Request');
      assert.deepEqual(
        [line?.status, line?.method, line?.route, line?.reason, others],
        [status, null, null, reason, []],
      );
      assert.doesNotMatch(JSON.stringify(lines), /secret/);
      assert.deepEqual(counted, [{ 'http.response.status_code': status }]);
    });

  it('leaves the line of a request whose body is late to who began to answer it', async () => {
    await listen((request) => request.on('error', () => undefined).resume(), QUICK);
    const { answer, lines, counted } = await noted(
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{',
    );
    assert.match(answer, /^HTTP\/1.1 408 /);
    assert.deepEqual([lines.filter(({ msg }) => msg === 'Request'), counted], [[], []]);
  });

  for (const [what, request] of [
    ['is not HTTP', '\x00\r\n\r\n'],
    ['has large headers', `GET / HTTP/1.1\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['does not arrive', 'GET / HT'],
  ] as const)
    it(`writes nothing where one that ${what} follows a request that has no answer yet`, async () => {
      await listen(() => undefined, QUICK);
      const { answer, counted } = await noted(GET + request);
      assert.equal(answer, '');
      assert.deepEqual(counted, [{}]);
    });

  it('sends the answer to an earlier request where one that is not HTTP follows, and closes the connection', async () => {
    await listen((_request, response) => void setTimeout(() => response.end('earlier'), 20));
    const answer = await text(open(`${GET}\x00\r\n\r\n`));
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n[\s\S]*earlier$/);
    assert.equal(answer.split('HTTP/1.1').length, 2);
  });

  it('writes nothing after the answer to a request whose body did not arrive', async () => {
    await listen((_request, response) => response.end('early'), QUICK);
    const answer = await text(open('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{'));
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
    assert.equal(answer.split('HTTP/1.1').length, 2);
  });

  for (const [what, request] of [
    ['a head', 'GET / HTTP/1.1\r\nHost: x\r\n'],
    ['a body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{'],
    ['a chunk', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab'],
  ] as const)
    it(`answers 408 when ${what} does not arrive, and closes the connection`, async () => {
      await listen((request) => request.on('error', () => undefined).resume(), QUICK);
      const answer = await text(open(request));
      assert.match(answer, /^HTTP\/1\.1 408 Request Timeout\r\n/);
      assert.match(
        answer,
        /"code":"REQUEST_TIMEOUT","message":"The request did not arrive in time: its head /,
      );
      assert.match(answer, /within 0\.\d s, all of it within 0\.4 s\."/);
    });

  it('keeps an idle connection for longer than the 60 s for which proxies do, a request on it too', async () => {
    await listen((_request, response) => response.end('ok'));
    const socket = open(GET);
    const [answer] = await once(socket.setEncoding('utf8'), 'data');
    assert.match(answer, /^Keep-Alive: timeout=75\r$/m);
  });

  it('has the system probe a connection after a minute of silence', async () => {
    await listen(() => undefined);
    // Node.js keeps the options, the delay in seconds, for every connection that it accepts.
    const { keepAlive, keepAliveInitialDelay } = server as Server & Record<string, unknown>;
    assert.deepEqual([keepAlive, keepAliveInitialDelay], [true, 60]);
  });

  it('lets an answer take longer than its request may', async () => {
    let late: ServerResponse | undefined;
    await listen((_request, response) => {
      late = response;
    }, QUICK);
    const slow = open(GET);
    await once(server, 'request');
    // The connection of a request that does not arrive ends later than the answer is due.
    await text(open('GET / HTTP/1.1\r\n'));
    late?.end('done');
    assert.match(String((await once(slow, 'data'))[0]), /^HTTP\/1\.1 200 OK/);
  });

  it('drops an answer that nobody reads', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    await listen((_request, response) => {
      response.once('close', resolve);
      response.end(Buffer.alloc(64 * 1024 * 1024));
    }, QUICK);
    const socket = open(GET);
    await once(socket, 'data');
    socket.pause();
    await closed;
  });

  it('keeps a stream that is read, and one that is idle', async () => {
    let quiet: ServerResponse | undefined;
    await listen((request, response) => {
      if (request.url === '/quiet') {
        quiet = response;
        response.write('hello');
      } else response.end(Buffer.alloc(64 * 1024 * 1024));
    }, QUICK);
    const listening = open(GET.replace('/', '/quiet'));
    await once(listening, 'data');
    const reading = open(GET.replace('Host', 'Connection: close\r\nHost'));
    let bytes = 0;
    for await (const chunk of reading) bytes += (chunk as Buffer).length;
    assert(bytes > 64 * 1024 * 1024);
    quiet?.end('bye');
    assert.match(String((await once(listening, 'data'))[0]), /bye/);
  });
});
