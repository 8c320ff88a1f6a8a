// Tells other workers of model calls that go on in a process which the engine takes for lost.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../db/connect.ts';
import { holdBlocks, isBlockHeld, letGoOfBlock } from '../db/runs/blocks-under-way.ts';
import type { BlockId } from '../db/stored-values/stored-outputs.ts';
import type { Announcements } from './announcer.ts';

/** How soon an attempt sees that the call which another process was making has ended: the later, the longer that takes. */
const LOOK_MIN_MS = 1_000;
const LOOK_MAX_MS = 10_000;

/** Returns the key of a block's model call among those that a process holds. */
export function keyOf({ callId, blockKey }: BlockId): string {
  return `${callId}/${blockKey}`;
}

function blockIdOf(key: string): BlockId {
  const end = key.indexOf('/');
  return { callId: key.slice(0, end), blockKey: key.slice(end + 1) };
}

/** Announces calls in the database, which may be there while the engine is away. */
export function createAnnouncements(db: Db): Announcements {
  return {
    tell: (keys) => holdBlocks(db, keys.map(blockIdOf)),
    withdraw: (key) => letGoOfBlock(db, blockIdOf(key)),
  };
}

/** Waits while another process announces that it is making the call. */
export async function untilNotAnnounced(db: Db, execution: BlockId, signal: AbortSignal): Promise<void> {
  let lookMs = LOOK_MIN_MS;
  while (await isBlockHeld(db, execution)) {
    await sleep(lookMs, undefined, { signal });
    lookMs = Math.min(1.5 * lookMs, LOOK_MAX_MS);
  }
}
