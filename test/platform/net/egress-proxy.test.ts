import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer, type Server as HttpServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect as dial } from 'node:net';
import { createGuardedPost, DestinationBlocked } from '../../../platform/net/guarded-post.ts';
import { createResolvePublic } from '../../../platform/net/resolve-public.ts';
import type { Received } from '../../fakes/webhook-receiver.ts';
import { describeWith } from '../../where-available.ts';
import { noAnswer, useGuardedPost } from './guarded-post-harness.ts';

describeWith(['openssl'], 'guarded POST through the egress proxy', () => {
  const guarded = useGuardedPost();
  const { postTo } = guarded;
  let server: HttpServer;
  let answer: number;
  const asked: IncomingMessage[] = [];
  before(async () => {
    server = createHttpServer().on('connect', (request, socket) => {
      asked.push(request);
      socket.write(`HTTP/1.1 ${answer} Answer\r\n\r\n`);
      if (answer !== 200) return;
      const [, host, port] = /^(.*):(\d+)$/.exec(request.url ?? '') ?? [];
      const onward = dial(Number(port), host);
      socket.on('error', () => onward.destroy()).pipe(onward);
      onward.on('error', () => socket.destroy()).pipe(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  beforeEach(() => {
    answer = 200;
    asked.length = 0;
  });
  after(() => server.close());
  const proxy = (port = (server.address() as AddressInfo).port) =>
    new URL(`http://me:p%40ss@127.0.0.1:${port}`);

  it('asks for the checked address, and sees the certificate of the name', async () => {
    assert.equal((await postTo(guarded.hooks.host, { proxy: proxy() })).status, 204);
    assert.deepEqual(
      asked.map(({ url, headers }) => [url, headers['proxy-authorization']]),
      [[`127.0.0.1:${guarded.hooks.port}`, `Basic ${btoa('me:p@ss')}`]],
    );
    const { headers } = guarded.hooks.received.at(-1) as Received;
    assert.deepEqual([headers.host, headers['proxy-authorization']], [guarded.hooks.host, undefined]);
    await assert.rejects(
      postTo('other.test', { proxy: proxy() }),
      noAnswer(/the certificate is not valid for this host/),
    );
  });

  it('asks it for nothing that is not public', async () => {
    const post = createGuardedPost({ resolvePublic: createResolvePublic(), proxy: proxy() });
    await assert.rejects(post(new URL('https://127.0.0.1/'), {}, Buffer.alloc(0)), DestinationBlocked);
    assert.deepEqual(asked, []);
  });

  it('has no answer when that refuses or is away, and does not tell where it is', async () => {
    answer = 403;
    const refused = noAnswer(/^There was no answer: the egress proxy refused it with status 403\.$/);
    await assert.rejects(postTo(guarded.hooks.host, { proxy: proxy() }), refused);
    const away = noAnswer(/^There was no answer: the egress proxy does not answer\.$/);
    await assert.rejects(postTo(guarded.hooks.host, { proxy: proxy(1) }), away);
  });
});
