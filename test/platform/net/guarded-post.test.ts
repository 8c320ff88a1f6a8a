import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import {
  CONNECT_TIMEOUT_MS,
  createGuardedPost,
  DestinationBlocked,
  TOTAL_TIMEOUT_MS,
} from '../../../platform/net/guarded-post.ts';
import { ANSWER_BODY_MAX_BYTES } from '../../../platform/net/read-answer-start.ts';
import { createResolvePublic } from '../../../platform/net/resolve-public.ts';
import { createAuthority } from '../../certificates.ts';
import * as receiver from '../../fakes/webhook-receiver.ts';
import { describeWith } from '../../where-available.ts';
import { noAnswer, useGuardedPost } from './guarded-post-harness.ts';

describeWith(['openssl'], 'guarded POST', () => {
  const guarded = useGuardedPost();
  const { postTo } = guarded;

  it('sends the bytes and headers, and answers status and body', async () => {
    guarded.hooks.will(receiver.answerWith(418, 'short and stout'));
    const { status, body } = await postTo(guarded.hooks.host);
    assert.deepEqual([status, body.toString()], [418, 'short and stout']);
    const { path, headers, body: sent } = guarded.hooks.received.at(-1) as receiver.Received;
    assert.deepEqual([path, headers['x-test'], sent.toString()], ['/path?query=1', 'yes', '{"a":1}']);
    assert.deepEqual([headers.host, headers['content-length']], [guarded.hooks.host, '7']);
  });

  it('does not follow redirects', async () => {
    const before = guarded.hooks.received.length;
    guarded.hooks.will(receiver.answerWith(307, '', { location: `https://${guarded.hooks.host}/elsewhere` }));
    assert.equal((await postTo(guarded.hooks.host)).status, 307);
    assert.equal(guarded.hooks.received.length, before + 1);
  });

  it('ignores the proxies of the environment', async () => {
    process.env.HTTPS_PROXY = 'http://127.0.0.1:1';
    try {
      assert.equal((await postTo(guarded.hooks.host)).status, 204);
    } finally {
      delete process.env.HTTPS_PROXY;
    }
  });

  it('reads at most 4 KiB of an endless body', async () => {
    guarded.hooks.will(receiver.sendForever);
    const { status, body } = await postTo(guarded.hooks.host);
    assert.deepEqual([status, body.length], [200, ANSWER_BODY_MAX_BYTES]);
  });

  for (const [name, reaction] of Object.entries({
    drips: receiver.dripBody,
    'is reset midway': receiver.resetMidBody,
  }))
    it(`takes the status for the answer when the body ${name}`, async () => {
      guarded.hooks.will(reaction);
      const { status, body } = await postTo(guarded.hooks.host);
      assert.deepEqual([status, body.toString()], [200, 'x']);
    });

  it('takes the answer that follows interim ones, also those nobody asked for', async () => {
    guarded.hooks.will((response) => {
      response.writeContinue();
      response.writeProcessing();
      response.writeHead(201).end('made');
    });
    const { status, body } = await postTo(guarded.hooks.host);
    assert.deepEqual([status, body.toString()], [201, 'made']);
  });

  it('has no answer when the other side switches protocols', async () => {
    guarded.hooks.will((response) =>
      response.socket?.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    );
    await assert.rejects(postTo(guarded.hooks.host), noAnswer(/closed/));
  });

  it('has no answer when the headers are huge', async () => {
    guarded.hooks.will(receiver.sendHugeHeaders);
    await assert.rejects(
      postTo(guarded.hooks.host),
      noAnswer(/^There was no answer: the headers of the answer are too large\.$/),
    );
  });

  it('has no answer when the connection is reset', async () => {
    guarded.hooks.will(receiver.reset);
    await assert.rejects(
      postTo(guarded.hooks.host),
      noAnswer(/^There was no answer: the connection was broken off\.$/),
    );
  });

  it('has no answer from who never answers, after 20 s in all', async () => {
    assert.equal(TOTAL_TIMEOUT_MS, 20_000);
    guarded.hooks.will(receiver.hang);
    await assert.rejects(postTo(guarded.hooks.host, { totalTimeoutMs: 300 }), noAnswer(/within 0\.3 s/));
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

    it('has no answer from a host that cannot be looked up: the next attempt looks it up again', async () => {
      const resolvePublic = createResolvePublic({ lookup: () => Promise.reject(new Error('SERVFAIL')) });
      await assert.rejects(
        createGuardedPost({ resolvePublic })(new URL('https://slow.example.com/'), {}, Buffer.from('')),
        noAnswer(/could not be looked up/),
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
      await assert.rejects(postTo(guarded.hooks.host, { ca: createAuthority().pem }), unknown);
      const received = guarded.hooks.received.length;
      await assert.rejects(postTo(guarded.hooks.host, { ca: '' }), unknown);
      assert.equal(guarded.hooks.received.length, received);
    });
  });
});
