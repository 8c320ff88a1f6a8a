import { sql } from 'kysely';
import { composeVisibleOutputs, type Facts, lookUpFacts } from '../../flow/compose-outputs.ts';
import type { Block, FlowDefinition, Json } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { OUTPUT_MAX_BYTES, OUTPUTS_READ_MAX_BYTES } from '../../flow/limits.ts';
import {
  type BlockKeys,
  listKeysOfSteps,
  listStepsRead,
  listVisibleSteps,
} from '../../flow/list-steps-read.ts';
import { iterationsOf, toPlan } from '../../flow/plan.ts';
import { bytesToLoad, INPUT_REF, MESSAGE_REF, type Value } from '../../flow/value.ts';
import type { Db } from '../connect.ts';
import { type BlockId, outputBytes } from '../stored-values/stored-outputs.ts';
import type { Continuation } from '../tables/run-input.ts';

type Outputs = { [stepId: string]: Json };
/** The outputs of earlier steps that a block reads by name; `bytes`: the maximum memory for reading them. */
export type OutputsRead = {
  bytes: number;
  /** Throws OUTPUT_TOO_LARGE. `facts` caches facts about loops for other blocks of the call. */
  load(resolve: (value: Value) => Promise<Json>, facts?: Facts): Promise<Outputs>;
};

const NOTHING: OutputsRead = { bytes: 0, load: async () => ({}) };

/**
 * Finds the outputs of earlier steps that a block reads by name: stored ones of steps that its call ran, and those
 * that the caller sent with the call.
 */
export async function findOutputsRead(
  db: Db,
  { callId, blockKey }: BlockId,
  block: Block,
  { steps }: FlowDefinition,
  { from = 0, outputs = {}, replaced = {} }: Partial<Continuation> = {},
): Promise<OutputsRead> {
  const read = listStepsRead(block);
  if (read.length === 0) return NOTHING;
  const visible = (listVisibleSteps(steps, block.step_id) ?? []).filter(
    ({ step_id }) => read === 'all' || read.includes(step_id),
  );
  if (visible.length === 0) return NOTHING;
  const earlier = new Set(steps.slice(0, from));
  const sent = { ...outputs, ...replaced };
  const brought = visible
    .filter((step) => earlier.has(step) && Object.hasOwn(sent, step.step_id))
    .map(({ step_id }) => [step_id, sent[step_id] as Json]);
  const ran = visible.filter((step) => !earlier.has(step));
  const iterations = iterationsOf(blockKey);
  const measured = await measureByKey(db, callId, listKeysOfSteps(steps, new Set(ran), iterations));
  const inLoops = ran.some(({ type }) => type !== 'sequential') ? OUTPUT_MAX_BYTES : 0;
  const bytes = [...measured.values()].reduce((sum, size) => sum + size, inLoops);
  return {
    bytes: Math.min(bytes, OUTPUTS_READ_MAX_BYTES + inLoops),
    async load(resolve, facts = new Map()) {
      const values = await composeVisibleOutputs(
        toPlan(steps.slice(from)),
        { stepId: block.step_id, iterations },
        new Set(ran.map(({ step_id }) => step_id)),
        { ref: from > 0 ? INPUT_REF : MESSAGE_REF },
        (key) => measured.get(key),
        lookUpFacts(resolve, facts),
      );
      requireReadable(block, [...values.values()], read === 'all');
      const loaded: [string, Json][] = [];
      for (const [stepId, value] of values) loaded.push([stepId, await resolve(value)]);
      return Object.fromEntries([...brought, ...loaded]);
    },
  };
}

/** Returns the sizes of the stored outputs of these blocks as JSON, by block key. */
async function measureByKey(
  db: Db,
  callId: string,
  { keys, prefixes }: BlockKeys,
): Promise<Map<string, number>> {
  if (keys.length === 0 && prefixes.length === 0) return new Map();
  const isOne = sql<boolean>`block_key = any(${keys}::text[])`;
  const rows = await db
    .selectFrom('block_run')
    .select(['block_key', sql<number>`coalesce(${outputBytes}, 0)`.as('bytes')])
    .where('execution_id', '=', callId)
    // Keys alone use the primary key; prefixes read all keys of the call.
    .where(prefixes.length === 0 ? isOne : sql<boolean>`(${isOne} or block_key ^@ any(${prefixes}::text[]))`)
    .where('status', '=', 'completed')
    .execute();
  return new Map(rows.map(({ block_key, bytes }) => [block_key, bytes]));
}

function requireReadable({ step_id }: Block, values: Value[], readsAll: boolean): void {
  const bytes = values.reduce((sum, value) => sum + bytesToLoad(value), 0);
  if (bytes <= OUTPUTS_READ_MAX_BYTES) return;
  const hint = readsAll ? 'name the steps that it reads, as in outputs.extract' : 'read fewer of them';
  throw new ServiceError(
    'OUTPUT_TOO_LARGE',
    `The outputs of earlier steps that ${step_id} reads have ${bytes} bytes together; at most ${OUTPUTS_READ_MAX_BYTES} can be read: ${hint}.`,
    { step_id },
  );
}
