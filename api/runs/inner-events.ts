import { listBlocksUnderWay } from '../../db/runs/blocks-under-way.ts';
import { lastSettled, type listBlocksOfCall } from '../../db/runs/list-recorded-blocks.ts';
import { listSmallOutputs } from '../../db/runs/list-small-outputs.ts';
import type { Step } from '../../flow/definition.ts';
import { iterationsOf } from '../../flow/plan.ts';
import type { CallIds } from '../../flow/run.ts';
import type { ApiDeps } from '../deps.ts';
import { JsonText } from '../http/write-json.ts';
import { describeBlockUpdate } from './run-shapes/block-under-way.ts';
import { toReceipt } from './run-shapes/receipt.ts';
import { type BlockUpdate, createBlockEvents } from './run-shapes/tell-blocks.ts';

/**
 * Longer outputs are left out. A client that merges all outputs by stepId echoes up to 200 of them besides the
 * outputs of steps, and both fit into a request.
 */
export const INNER_OUTPUT_MAX_BYTES = 16 * 1024;
/** Outputs that are loaded at once. */
const AT_ONCE = 64;

export type InnerEvent = { name: string; data: object; isInner: true };

export type BlockRuns = Awaited<ReturnType<typeof listBlocksOfCall>>;

/**
 * Creates the events of the blocks inside a parallel or loop step: gets the recorded blocks of the call at each check,
 * and yields new events. They have no id, so a client that reconnects gets those of the current step again. Returns
 * the last settled `recorded` of the call's blocks in flight.
 */
export function createInnerEvents(
  { db }: Pick<ApiDeps, 'db'>,
  { executionId, callId }: CallIds,
  step: Step,
  { stepIndex }: { stepIndex: number },
  take: (bytes: number) => Promise<() => void>,
): (blocks: BlockRuns) => AsyncGenerator<InnerEvent, bigint> {
  const branchesOf = new Map(listPlaces(step, []));
  const blockEvents = createBlockEvents();
  const ended = new Set<string>();
  const isInner = step.type !== 'sequential';
  let looks = 0;

  const format = (update: BlockUpdate): InnerEvent => {
    const { step_id, ...block } = describeBlockUpdate(update);
    return innerEvent(update.name, step_id, { type: 'sequential', ...block });
  };

  function innerEvent(name: string, stepId: string, data: object): InnerEvent {
    const branches = branchesOf.get(stepId) ?? [];
    const place = { executionId, stepId, stepIndex, ...(branches.length > 0 && { branches }) };
    return { name, data: { ...place, ...data }, isInner: true };
  }

  async function* endEvents(blocks: BlockRuns): AsyncGenerator<InnerEvent> {
    const giveBack = await take(blocks.length * INNER_OUTPUT_MAX_BYTES);
    try {
      const keys = blocks.map(({ block_key }) => block_key);
      const outputs = await listSmallOutputs(db, callId, keys, INNER_OUTPUT_MAX_BYTES);
      for (const block of blocks) {
        for (const update of blockEvents.end(block)) yield format(update);
        const output = outputs.get(block.block_key);
        if (!output) continue;
        const { text, bytes } = output;
        const iterations = iterationsOf(block.block_key);
        yield innerEvent('block_completed', block.step_id, {
          key: block.block_key,
          ...(iterations.length > 0 && { iterations }),
          output: text === null ? null : new JsonText(text),
          ...(text === null && { outputBytes: bytes }),
          ...toReceipt([block]),
        });
      }
    } finally {
      giveBack();
    }
  }

  return async function* innerEvents(blocks) {
    looks += 1;
    const added = isInner
      ? blocks.filter(({ step_id, block_key }) => branchesOf.has(step_id) && !ended.has(block_key))
      : [];
    for (const { block_key } of added) ended.add(block_key);
    for (let from = 0; from < added.length; from += AT_ONCE)
      yield* endEvents(added.slice(from, from + AT_ONCE));
    // Short steps skip the query.
    if (looks === 1) return 0n;
    const underWay = (await listBlocksUnderWay(db, executionId)).filter((row) => row.execution_id === callId);
    const own = underWay.filter((row) => branchesOf.has(row.step_id) && !ended.has(row.block_key));
    for (const event of blockEvents.update(own))
      if (isInner || event.name === 'block_retrying') yield format(event);
    return lastSettled(underWay);
  };
}

/** Lists the blocks of a step, with the names of the branches around each, outermost first. */
function listPlaces(step: Step, branches: string[]): [string, string[]][] {
  if (step.type === 'sequential') return [[step.step_id, branches]];
  if (step.type === 'loop') return step.body.flatMap((inner) => listPlaces(inner, branches));
  return Object.entries(step.branches).flatMap(([name, inner]) =>
    inner.flatMap((each) => listPlaces(each, [...branches, name])),
  );
}
