import type { BlockUnderWayRow } from '../../../db/runs/blocks-under-way.ts';

type Begun = Pick<BlockUnderWayRow, 'step_id' | 'block_key' | 'name' | 'processor_type'>;
export type BlockNews =
  | { name: 'block_started'; row: Begun }
  | { name: 'block_retrying'; row: BlockUnderWayRow };

type BlockTeller = {
  /** Yields block_started unless it was sent. The caller sends the event of the block's end next. */
  end(row: Begun): Generator<BlockNews>;
  /** Yields updates of blocks in flight. */
  tell(rows: BlockUnderWayRow[]): Generator<BlockNews>;
};

/**
 * Creates the block events of one stream: which blocks begin, and which are rejected. The events have no id, so a
 * client that reconnects gets them again.
 */
export function createBlockTeller(): BlockTeller {
  /** By block: the last reported time of the next attempt. */
  const told = new Map<string, number>();

  function* begin(row: Begun): Generator<BlockNews> {
    if (told.has(row.block_key)) return;
    told.set(row.block_key, 0);
    yield { name: 'block_started', row };
  }

  return {
    *end(row) {
      yield* begin(row);
      told.delete(row.block_key);
    },
    *tell(rows) {
      for (const row of rows) {
        yield* begin(row);
        const next = row.next_attempt_at?.getTime() ?? 0;
        if (next !== 0 && told.get(row.block_key) !== next) yield { name: 'block_retrying', row };
        told.set(row.block_key, next);
      }
    },
  };
}
