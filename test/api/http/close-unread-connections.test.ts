import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { closeUnreadConnections } from '../../../api/http/http-server.ts';

const MB = 1024 * 1024;
const LOOKS = 20;

describe('an answer that is read slowly', () => {
  /** Looks often at an answer whose reader takes so many bytes between two looks; answers whether it was closed. */
  async function isClosed(bytesPerLook: number, crowded: boolean, left = 8 * MB): Promise<boolean> {
    const { promise: looked, resolve } = Promise.withResolvers<void>();
    let looks = 0;
    let closed = false;
    const socket = {
      writableLength: left,
      get bytesWritten() {
        looks += 1;
        if (looks === LOOKS) resolve();
        return left + looks * bytesPerLook;
      },
      destroy() {
        closed = true;
      },
    };
    const server = new EventEmitter();
    const open = new Set([{ socket } as unknown as ServerResponse]);
    closeUnreadConnections(server as unknown as Server, open, 1, () => crowded);
    await looked;
    server.emit('close');
    return closed;
  }

  it('is kept at 256 KiB in six looks', async () => {
    assert.equal(await isClosed(50_000, false), false);
    assert.equal(await isClosed(40_000, false), true);
  });

  it('is closed at less than 2 MiB in six looks while others wait for memory', async () => {
    assert.equal(await isClosed(400_000, true), false);
    assert.equal(await isClosed(300_000, true), true);
  });

  it('is kept while others wait where little of it is in memory', async () => {
    assert.equal(await isClosed(50_000, true, 50_000), false);
  });
});
