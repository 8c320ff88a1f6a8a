import type { Db } from '../../../db/connect.ts';
import type { FlowDefinitions } from '../../../db/flows/flow-definitions.ts';
import { getRunInput } from '../../../db/runs/runs.ts';
import { measureInput } from '../../../db/stored-values/stored-inputs.ts';
import type { ServiceError } from '../../../flow/errors.ts';
import { toPlan } from '../../../flow/plan.ts';
import { weigh } from '../../../platform/json-text/measure-json.ts';
import { invalidField } from '../../http/invalid-field.ts';
import { BODY_MAX_BYTES } from '../../http/receive-body.ts';
import { collectOutputs, findCalls, measureCollected } from './collect-outputs.ts';
import { listOutputsRead } from './list-outputs-read.ts';

type ForkedRun = { execution_id: string; version: number; flow_version_id: string };

/**
 * Makes the request that starts a /step session at `step` of a stored run, for GET …/fork. `holdBytes` is called with
 * the size of the run's input and outputs, and returns the database to read them from. `measure` returns the size of
 * JSON. Throws a ServiceError when the run cannot be forked there.
 */
export async function forkCursor(
  { db: measured, definitions }: { db: Db; definitions: FlowDefinitions },
  run: ForkedRun,
  step: number,
  holdBytes: (bytes: number) => Promise<Db>,
  measure: (json: string) => number = weigh,
) {
  const { steps } = await definitions.get(run.flow_version_id);
  const plan = toPlan(steps);
  if (step >= plan.length) throw outOfRange(plan.length);
  const before = plan.slice(0, step);
  const calls = await findCalls(measured, run.execution_id, before);
  const ofInput = await measureInput(measured, run.execution_id);
  const db = await holdBytes(ofInput + (await measureCollected(measured, calls)));
  const input = await getRunInput(db, run.execution_id);
  const { message, parameters, block_overrides, attachments, tools, tool_choice: toolChoice } = input;
  const cursor = {
    executionId: null,
    version: run.version,
    stepIndex: step,
    accumulatedOutputs: {},
    message,
    parameters,
    ...(Object.keys(block_overrides).length > 0 && { blockOverrides: block_overrides }),
    ...(attachments && { attachments }),
    ...(tools && { tools }),
    ...(toolChoice && { toolChoice }),
  };
  const room = BODY_MAX_BYTES - measure(JSON.stringify(cursor));
  const read = new Set(listOutputsRead(steps, block_overrides, step));
  const accumulatedOutputs = await collectOutputs(db, calls, before, read, room, measure);
  return { ...cursor, accumulatedOutputs };
}

function outOfRange(steps: number): ServiceError {
  const message =
    steps === 0 ? 'the flow has no steps' : `must be the index of a step, from 0 to ${steps - 1}`;
  return invalidField('step', message);
}
