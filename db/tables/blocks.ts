import type { ColumnType, Generated } from 'kysely';
import type { Json, ProcessorType } from '../../flow/definition.ts';
import type { ErrorCode } from '../../flow/errors.ts';
import type { Value } from '../../flow/value.ts';

export interface BlockRunTable {
  execution_id: string;
  block_key: string;
  step_id: string;
  name: string;
  processor_type: ProcessorType;
  /** `paused`: the model asked for tools, and the output is the conversation up to there. */
  status: 'completed' | 'failed' | 'paused';
  /** A Value (flow/value.ts) over the run's message and the outputs of its other blocks. */
  input: ColumnType<Value, string, string>;
  /** null when the block failed, and when the output is in the object of a linked row of stored_object. */
  output: ColumnType<Json, string | null, string | null>;
  error: ColumnType<{ code: ErrorCode; message: string } | null, string | null, string | null>;
  model: string | null;
  prompt_tokens: Generated<number>;
  completion_tokens: Generated<number>;
  cost_microcredits: Generated<number>;
  latency_ms: number;
  attempts: number;
  started_at: Date;
  finished_at: Date;
  /** The id (xid8) of the transaction that recorded the block: the order of a run's events. */
  recorded: Generated<string>;
}

/** A block that takes long or that its provider rejected, until its end is recorded. */
export interface BlockUnderWayTable {
  execution_id: string;
  block_key: string;
  step_id: string;
  name: string;
  processor_type: ProcessorType;
  /** The attempts so far, including the one in flight. */
  attempts: number;
  started_at: Date;
  /** The provider's last rejection, in words for callers. */
  last_error: Generated<string | null>;
  /** When the next attempt is due; null during an attempt. */
  next_attempt_at: Generated<Date | null>;
  /** Until then, the process that is making a model call is not to be taken for lost; null unless the engine may do so. */
  held_until: Generated<Date | null>;
  /** The id (xid8) of the transaction that last changed the row. */
  recorded: Generated<string>;
}
