import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Http2Server, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { checkEngine } from '../../../cli/doctor/check-engine.ts';
import { GRPC } from '../../../temporal/engine-errors.ts';

const EMPTY_MESSAGE = Buffer.alloc(5);

describe('weir doctor, of a Temporal server that', () => {
  let server: Http2Server;
  const sessions = new Set<ServerHttp2Session>();
  afterEach(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });

  /** Starts a server that answers `getSystemInfo`, with nothing in it, and everything else, or `what`, with what `other` says. */
  async function examine(other: number | 'cut off', what = '') {
    server = createServer();
    const isOther = (path = '') => !path.endsWith('/GetSystemInfo') && path.endsWith(what);
    server.on('session', (session) => sessions.add(session));
    server.on('stream', (stream, headers) => {
      stream.on('error', () => undefined);
      const status = isOther(headers[':path']) ? other : 0;
      if (status === 'cut off') return stream.session?.destroy();
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': String(status) }));
      stream.end(EMPTY_MESSAGE);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const temporal = { connectionOptions: { address }, namespace: 'default' };
    return { address, found: await checkEngine({ temporal, taskQueue: 'weir-flows' } as never, 1_000) };
  }

  for (const [what, other] of [
    ['is unavailable once it was connected to', GRPC.unavailable],
    ['cuts its answers off', 'cut off'],
  ] as const)
    it(`${what}, says that it did not answer, where, and what to do`, async () => {
      const { address, found } = await examine(other);
      const [{ state, message = '', mend = '' } = {}, ...more] = found;
      assert.deepEqual([state, more], ['error', []]);
      assert.ok(message.startsWith(`The Temporal server at ${address} did not answer: `), message);
      assert.match(mend, /^It may be restarting: repeat weir doctor in a minute\./);
    });

  it('answers, but serves no workflow, says that', async () => {
    const { found } = await examine(GRPC.unavailable, '/DescribeWorkflowExecution');
    const errors = found.filter(({ state }) => state === 'error').map(({ message }) => message);
    assert.match(errors.join(), /^Temporal answers, but serves no workflow: /);
  });

  it('has no such namespace, says that', async () => {
    const { found } = await examine(GRPC.notFound);
    assert.match(found[0]?.message ?? '', /^The namespace default cannot be used: /);
  });
});
