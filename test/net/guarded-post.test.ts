import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer, type Server as HttpServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, createServer, connect as dial, type Server } from 'node:net';
import {
  BODY_MAX_BYTES,
  CONNECT_TIMEOUT_MS,
  createGuardedPost,
  DestinationBlocked,
  NoAnswer,
  TOTAL_TIMEOUT_MS,
} from '../../net/guarded-post.ts';
import { createResolvePublic } from '../../net/resolve-public.ts';
import { createAuthority } from '../certificates.ts';
import * as receiver from '../fakes/webhook-receiver.ts';
import { describeWith } from '../where-available.ts';

describeWith(['openssl'], 'guarded POST', () => {
  let hooks: receiver.WebhookReceiver;
  before(async () => {
    hooks = await receiver.startWebhookReceiver();
  });
  after(() => hooks.close());

  const postTo = (
    host: string,
    {
      ca = receiver.testAuthority().pem,
      port = hooks.port,
      ...timeouts
    }: {
      ca?: string | undefined;
      proxy?: URL;
      port?: number;
      connectTimeoutMs?: number;
      totalTimeoutMs?: number;
    } = {},
  ) => {
    const resolvePublic = createResolvePublic({ dialMap: { [host]: `127.0.0.1:${port}` } });
    const post = createGuardedPost({ resolvePublic, ca, ...timeouts });
    return post(new URL(`https://${host}/path?query=1`), { 'x-test': 'yes' }, Buffer.from('{"a":1}'));
  };
  const noAnswer = (pattern: RegExp) => (error: unknown) =>
    error instanceof NoAnswer && pattern.test(error.message);

  it('sends the bytes and headers, and answers status and body', async () => {
    hooks.will(receiver.answerWith(418, 'short and stout'));
    const { status, body } = await postTo(hooks.host);
    assert.deepEqual([status, body.toString()], [418, 'short and stout']);
    const { path, headers, body: sent } = hooks.received.at(-1) as receiver.Received;
    assert.deepEqual([path, headers['x-test'], sent.toString()], ['/path?query=1', 'yes', '{"a":1}']);
    assert.deepEqual([headers.host, headers['content-length']], [hooks.host, '7']);
  });

  it('does not follow redirects', async () => {
    const before = hooks.received.length;
    hooks.will(receiver.answerWith(307, '', { location: `https://${hooks.host}/elsewhere` }));
    assert.equal((await postTo(hooks.host)).status, 307);
    assert.equal(hooks.received.length, before + 1);
  });

  it('ignores the proxies of the environment', async () => {
    process.env.HTTPS_PROXY = 'http://127.0.0.1:1';
    try {
      assert.equal((await postTo(hooks.host)).status, 204);
    } finally {
      delete process.env.HTTPS_PROXY;
    }
  });

  it('reads at most 4 KiB of an endless body', async () => {
    hooks.will(receiver.sendForever);
    const { status, body } = await postTo(hooks.host);
    assert.deepEqual([status, body.length], [200, BODY_MAX_BYTES]);
  });

  for (const [name, reaction] of Object.entries({
    drips: receiver.dripBody,
    'is reset midway': receiver.resetMidBody,
  }))
    it(`takes the status for the answer when the body ${name}`, async () => {
      hooks.will(reaction);
      const { status, body } = await postTo(hooks.host);
      assert.deepEqual([status, body.toString()], [200, 'x']);
    });

  it('takes the answer that follows interim ones, also those nobody asked for', async () => {
    hooks.will((response) => {
      response.writeContinue();
      response.writeProcessing();
      response.writeHead(201).end('made');
    });
    const { status, body } = await postTo(hooks.host);
    assert.deepEqual([status, body.toString()], [201, 'made']);
  });

  it('has no answer when the other side switches protocols', async () => {
    hooks.will((response) =>
      response.socket?.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    );
    await assert.rejects(postTo(hooks.host), noAnswer(/closed/));
  });

  it('has no answer when the headers are huge', async () => {
    hooks.will(receiver.sendHugeHeaders);
    await assert.rejects(
      postTo(hooks.host),
      noAnswer(/^There was no answer: the headers of the answer are too large\.$/),
    );
  });

  it('has no answer when the connection is reset', async () => {
    hooks.will(receiver.reset);
    await assert.rejects(
      postTo(hooks.host),
      noAnswer(/^There was no answer: the connection was broken off\.$/),
    );
  });

  it('has no answer from who never answers, after 20 s in all', async () => {
    assert.equal(TOTAL_TIMEOUT_MS, 20_000);
    hooks.will(receiver.hang);
    await assert.rejects(postTo(hooks.host, { totalTimeoutMs: 300 }), noAnswer(/within 0\.3 s/));
  });

  describe('through the egress proxy', () => {
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
      assert.equal((await postTo(hooks.host, { proxy: proxy() })).status, 204);
      assert.deepEqual(
        asked.map(({ url, headers }) => [url, headers['proxy-authorization']]),
        [[`127.0.0.1:${hooks.port}`, `Basic ${btoa('me:p@ss')}`]],
      );
      const { headers } = hooks.received.at(-1) as receiver.Received;
      assert.deepEqual([headers.host, headers['proxy-authorization']], [hooks.host, undefined]);
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
      await assert.rejects(postTo(hooks.host, { proxy: proxy() }), refused);
      const away = noAnswer(/^There was no answer: the egress proxy does not answer\.$/);
      await assert.rejects(postTo(hooks.host, { proxy: proxy(1) }), away);
    });
  });

  describe('over a bad connection', () => {
    let server: Server;
    let port: number;
    let connections = 0;
    let speak: (socket: import('node:net').Socket) => void;
    before(async () => {
      server = createServer((socket) => {
        connections += 1;
        socket.on('error', () => undefined);
        speak(socket);
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      port = (server.address() as AddressInfo).port;
    });
    after(() => server.close());

    it('gives up connecting after 5 s when the other side stalls', async () => {
      assert.equal(CONNECT_TIMEOUT_MS, 5_000);
      speak = () => undefined;
      await assert.rejects(postTo('r.hooks.test', { port, connectTimeoutMs: 300 }), noAnswer(/too long/));
    });

    it('has no answer when the other side does not speak TLS', async () => {
      speak = (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      const noTls = /^There was no answer: no secure connection \(TLS\) could be agreed on\.$/;
      await assert.rejects(postTo('r.hooks.test', { port }), noAnswer(noTls));
    });

    it('has no answer when nobody listens', async () => {
      await assert.rejects(
        postTo('r.hooks.test', { port: 1 }),
        noAnswer(/^There was no answer: the connection was refused\.$/),
      );
    });

    it('opens no connection to what is not public', async () => {
      const before = connections;
      const rebound = createResolvePublic({ lookup: async () => ['93.184.216.34', '127.0.0.1'] });
      for (const host of [
        '127.0.0.1',
        '2130706433',
        '[::ffff:127.0.0.1]',
        'localhost',
        'rebound.example.com',
      ]) {
        const post = createGuardedPost({ resolvePublic: rebound });
        await assert.rejects(
          post(new URL(`https://${host}:${port}/`), {}, Buffer.from('')),
          DestinationBlocked,
          host,
        );
      }
      assert.equal(connections, before);
    });

    it('has no answer from a host that cannot be resolved', async () => {
      const resolvePublic = createResolvePublic({ lookup: async () => [] });
      await assert.rejects(
        createGuardedPost({ resolvePublic })(new URL('https://gone.example.com/'), {}, Buffer.from('')),
        noAnswer(/cannot be resolved/),
      );
    });
  });

  describe('with a certificate', () => {
    it('that is for another host has no answer', async () => {
      await assert.rejects(
        postTo('other.test'),
        noAnswer(/^There was no answer: the certificate is not valid for this host\.$/),
      );
    });

    it('of an authority that is not known has no answer', async () => {
      const unknown = noAnswer(/^There was no answer: the certificate .*\.$/);
      await assert.rejects(postTo(hooks.host, { ca: createAuthority().pem }), unknown);
      const received = hooks.received.length;
      await assert.rejects(postTo(hooks.host, { ca: '' }), unknown);
      assert.equal(hooks.received.length, received);
    });
  });
});
