import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';

describe('malformed HTTP requests', () => {
  let weir: Weir;
  before(async () => {
    weir = await getSharedWeir();
  });
  after(() => weir.stop());

  /** Sends lines as they are; the first line of the answer and its body. */
  const send = async (...lines: string[]) => {
    const socket = connect(Number(new URL(weir.url).port), '127.0.0.1');
    socket.write(`${[...lines, 'Connection: close', '', ''].join('\r\n')}`);
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
    return { status: Number(head.split(' ')[1]), body: body === '' ? undefined : JSON.parse(body) };
  };

  const refused: [string, string[]][] = [
    ['no Host', ['GET /healthz HTTP/1.1']],
    ['two Hosts', ['GET /healthz HTTP/1.1', 'Host: a', 'Host: b']],
    ['two keys', ['GET /healthz HTTP/1.1', 'Host: a', 'Authorization: Bearer a', 'Authorization: Bearer b']],
    ['two content types', ['GET /healthz HTTP/1.1', 'Host: a', 'Content-Type: a/b', 'Content-Type: c/d']],
    ['a target that is not a URL', ['GET http://[::1 HTTP/1.1', 'Host: a']],
    ['CONNECT', ['CONNECT a:443 HTTP/1.1', 'Host: a']],
    ['two framings', ['POST / HTTP/1.1', 'Host: a', 'Content-Length: 1', 'Transfer-Encoding: chunked']],
  ];
  for (const [rule, lines] of refused)
    it(`answers 400 BAD_REQUEST for ${rule}`, async () => {
      const { status, body } = await send(...lines);
      assert.deepEqual([status, body?.detail.code], [400, 'BAD_REQUEST']);
    });

  const taken: [string, string[]][] = [
    ['HTTP/1.0 without a Host', ['GET /healthz HTTP/1.0']],
    ['an absolute target', ['GET http://elsewhere/healthz HTTP/1.1', 'Host: a']],
    ['an unknown expectation', ['GET /healthz HTTP/1.1', 'Host: a', 'Expect: more']],
  ];
  for (const [rule, lines] of taken)
    it(`takes ${rule}`, async () => assert.equal((await send(...lines)).status, 200));

  for (const [rule, line] of [
    ['CONNECT', 'CONNECT a:443 HTTP/1.1'],
    ['an upgrade', 'GET / HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: websocket'],
    ['no HTTP', 'hello'],
    ['a body that is cut off', 'POST / HTTP/1.1\r\nContent-Length: 100'],
  ])
    it(`outlives callers who break off after ${rule}`, async () => {
      const breakOff = async () => {
        const socket = connect(Number(new URL(weir.url).port), '127.0.0.1').on('error', () => undefined);
        await once(socket, 'connect');
        socket.write(`${line}\r\nHost: a\r\n\r\n`);
        socket.resetAndDestroy();
        await once(socket, 'close');
      };
      for (let caller = 0; caller < 50; caller += 1) await breakOff();
      assert.equal((await fetch(`${weir.url}/healthz`)).status, 200);
    });

  it('answers 404 NOT_FOUND for an unknown path with an unknown method, 405 with Allow for a known path', async () => {
    const nowhere = await fetch(`${weir.url}/api/v1`, { method: 'PROPFIND' });
    assert.deepEqual([nowhere.status, nowhere.headers.get('allow')], [404, null]);
    const somewhere = await fetch(`${weir.url}/healthz`, { method: 'PROPFIND' });
    assert.deepEqual([somewhere.status, somewhere.headers.get('allow')], [405, 'HEAD, GET']);
  });
});
