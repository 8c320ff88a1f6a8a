import { z } from 'zod';
import type { RunRow } from '../../db/runs/runs.ts';
import { runState } from '../runs/run-shapes/answers.ts';
import { describeRun } from '../runs/run-shapes/describe-run.ts';

const { shape } = runState;

/** A run in tool responses. Its code is any text: every client would load a list of all codes with the tools. */
export const toolRun = z.strictObject({
  flow_run_id: z.string(),
  flow_id: z.string(),
  status: shape.status,
  code: z.string().optional(),
  step_id: shape.step_id,
  iterations: shape.iterations,
  error_message: z.string().optional(),
  failure_reason: shape.failureReason,
  version: shape.version,
  mode: shape.mode,
  environment: shape.environment,
  started_at: z.string(),
  finished_at: z.string().nullable(),
  duration_ms: z.int().nullable(),
  cost: shape.cost,
});

type DescribedRun = Awaited<ReturnType<typeof describeRun>>;

/** Renames the fields of a described run for tools. */
export function toToolRun({
  executionId,
  flowId,
  blockCount: _,
  keyId: _keyId,
  repeats: _repeats,
  startedAt,
  finishedAt,
  durationMs,
  ...run
}: DescribedRun): z.input<typeof toolRun> {
  const { errorMessage, failureReason, ...others } = run as typeof run & {
    errorMessage?: string;
    failureReason?: 'error' | 'credits_exhausted' | 'byok_rejected';
  };
  return {
    flow_run_id: executionId,
    flow_id: flowId,
    ...others,
    ...(errorMessage !== undefined && { error_message: errorMessage }),
    ...(failureReason !== undefined && { failure_reason: failureReason }),
    started_at: startedAt,
    finished_at: finishedAt,
    duration_ms: durationMs,
  };
}

/** Describes a run, without its result and blocks. */
export async function describeToolRun(
  deps: Parameters<typeof describeRun>[0],
  run: Pick<RunRow, keyof Parameters<typeof describeRun>[1]>,
): Promise<z.input<typeof toolRun>> {
  return toToolRun(await describeRun(deps, run));
}
