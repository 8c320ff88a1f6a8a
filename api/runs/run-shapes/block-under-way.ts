// The blocks in flight of a run: in the run's state and in its events.
import { z } from 'zod';
import type { BlockUnderWayRow } from '../../../db/runs/blocks-under-way.ts';
import { PROCESSOR_TYPES } from '../../../flow/definition.ts';
import { iterationsOf } from '../../../flow/plan.ts';
import { iterations } from './block-answers.ts';

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

const block = {
  step_id: z.string(),
  key: z.string(),
  iterations,
  name: z.string(),
  processor_type: z.enum(PROCESSOR_TYPES),
};
const refusal = {
  attempts: z.int().min(1).meta({ description: 'The attempts so far, the one under way included.' }),
  errorMessage: z.string().meta({
    description:
      'What the provider answered to the attempt before, or that there was no process for the code.',
  }),
  nextAttemptAt: z.iso.datetime(),
};

export const blockUnderWay = z
  .object({
    ...block,
    status: z.enum(['running', 'retrying']).meta({
      description:
        '`retrying`: its provider refused it, or there was no process for its code; the next attempt is at `nextAttemptAt`.',
    }),
    startedAt: z.iso.datetime(),
    attempts: refusal.attempts,
    errorMessage: refusal.errorMessage.optional(),
    nextAttemptAt: refusal.nextAttemptAt.optional(),
  })
  .meta({ id: 'BlockUnderWay', description: 'A block that takes longer than a second, or was refused.' });

export const blockStarted = z.object(block).meta({ id: 'BlockStarted' });
export const blockRetrying = z.object({ ...block, ...refusal }).meta({ id: 'BlockRetrying' });

/** Describes a block for followers of its run. */
function describeBlock(row: Pick<BlockUnderWayRow, 'step_id' | 'block_key' | 'name' | 'processor_type'>) {
  const { step_id, block_key: key, name, processor_type } = row;
  const iterations = iterationsOf(key);
  return { step_id, key, ...(iterations.length > 0 && { iterations }), name, processor_type };
}

/** Describes an update of a block in flight, as the data of its event. */
export function describeBlockUpdate(update: BlockUpdate) {
  if (update.name === 'block_started') return describeBlock(update.row);
  const { row } = update;
  return { ...describeBlock(row), attempts: row.attempts, ...describeRefusal(row) };
}

/** Describes the provider's last rejection and the time of the next attempt; {} before the first. */
function describeRefusal({ last_error, next_attempt_at }: BlockUnderWayRow) {
  return {
    ...(last_error !== null && { errorMessage: last_error }),
    ...(next_attempt_at && { nextAttemptAt: next_attempt_at.toISOString() }),
  };
}

/** Describes a block in flight in the state of its run. */
export function describeBlockUnderWay(row: BlockUnderWayRow) {
  return {
    ...describeBlock(row),
    status: row.next_attempt_at ? ('retrying' as const) : ('running' as const),
    startedAt: row.started_at.toISOString(),
    attempts: row.attempts,
    ...describeRefusal(row),
  };
}

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
