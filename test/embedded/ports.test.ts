import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { findFreePort, findFreePortFrom } from '../../embedded/ports.ts';

describe('ports of a local start', () => {
  const taken = createServer();
  let port = 0;

  before(async () => {
    taken.listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    port = typeof address === 'object' && address ? address.port : 0;
  });
  after(() => taken.close());

  it('gives another port for one that is taken', async () => {
    const other = await findFreePort(port);
    assert.notEqual(other, port);
    assert.ok(other > 0);
  });

  it('keeps a preferred port that is free', async () => {
    const free = await findFreePort();
    assert.equal(await findFreePort(free), free);
  });

  it('goes on to the next port when the default is taken', async () => {
    assert.ok((await findFreePortFrom(port)) > port);
  });
});
