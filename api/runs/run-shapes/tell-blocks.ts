import type { BlockUnderWayRow } from '../../../db/runs/blocks-under-way.ts';

type Begun = Pick<BlockUnderWayRow, 'step_id' | 'block_key' | 'name' | 'processor_type'>;
export type BlockUpdate =
  | { name: 'block_started'; row: Begun }
  | { name: 'block_retrying'; row: BlockUnderWayRow };

type BlockEvents = {
  /** Yields block_started unless it was sent. The caller sends the event of the block's end next. */
  end(row: Begun): Generator<BlockUpdate>;
  /** Yields updates of blocks in flight. */
  update(rows: BlockUnderWayRow[]): Generator<BlockUpdate>;
};

/**
 * Creates the block events of one stream: which blocks begin, and which are rejected. The events have no id, so a
 * client that reconnects gets them again.
 */
export function createBlockEvents(): BlockEvents {
  /** By block: the last reported time of the next attempt. */
  const reported = new Map<string, number>();

  function* begin(row: Begun): Generator<BlockUpdate> {
    if (reported.has(row.block_key)) return;
    reported.set(row.block_key, 0);
    yield { name: 'block_started', row };
  }

  return {
    *end(row) {
      yield* begin(row);
      reported.delete(row.block_key);
    },
    *update(rows) {
      for (const row of rows) {
        yield* begin(row);
        const next = row.next_attempt_at?.getTime() ?? 0;
        if (next !== 0 && reported.get(row.block_key) !== next) yield { name: 'block_retrying', row };
        reported.set(row.block_key, next);
      }
    },
  };
}
