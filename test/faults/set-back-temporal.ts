import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { startTemporal } from '../../dev/temporal/temporal.ts';

/** A Temporal that a test sets back, as a power loss does. */
export type SetBackTemporal = {
  address: string;
  /** Copies its database as it is now. */
  copy(): Promise<void>;
  /** Kills it, and starts it with the copy at the same address. */
  setBack(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts a Temporal of its own. The caller stops it. */
export async function startSetBackTemporal(): Promise<SetBackTemporal> {
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-set-back-'));
  const [file, copy] = [path.join(folder, 'temporal.db'), path.join(folder, 'copy.db')];
  let temporal = await startTemporal({ stateFolder: folder, durable: false });
  const { address, port } = temporal;
  return {
    address,
    async copy() {
      const open = new DatabaseSync(file, { readOnly: true });
      await backup(open, copy);
      open.close();
    },
    async setBack() {
      process.kill(temporal.child.pid, 'SIGKILL');
      await temporal.child.exited;
      for (const end of ['-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
      copyFileSync(copy, file);
      temporal = await startTemporal({ stateFolder: folder, port, durable: false });
      assert.equal(temporal.address, address);
    },
    async stop() {
      await temporal.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
