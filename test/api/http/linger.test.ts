import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { startWeir } from '../../harness.ts';

describe('an API that stops', () => {
  it('answers what comes on a connection that was open, and closes it then', async () => {
    const weir = await startWeir({ worker: false, lingerMs: 10_000 });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = async () => {
      const request = get(`${weir.url}/healthz`, { agent });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      await once(response.resume(), 'end');
      const { statusCode: status, headers } = response;
      return { status, connection: headers.connection, reused: request.reusedSocket };
    };
    assert.deepEqual(await ask(), { status: 200, connection: 'keep-alive', reused: false });
    const stopped = weir.stop();
    assert.deepEqual(await ask(), { status: 200, connection: 'close', reused: true });
    await stopped;
    agent.destroy();
  });
});
