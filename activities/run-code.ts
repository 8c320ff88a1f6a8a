import { releaseReservation, reserveCredits } from '../db/credits/reservations.ts';
import { MICROCREDITS_PER_CREDIT } from '../flow/credit-amount.ts';
import { ServiceError } from '../flow/errors.ts';
import { CODE_TIMEOUT_DEFAULT_MS } from '../flow/limits.ts';
import type { Pause } from '../flow/tool-calls.ts';
import type { Value } from '../flow/value.ts';
import { inSpan } from '../platform/observability/tracing.ts';
import type { ActivityDeps } from './activity-deps.ts';
import { acquire } from './attempts/reschedule.ts';
import type { Attempt } from './attempts/run-attempt.ts';
import type { Output } from './attempts/serialize-output.ts';
import type { BlockExecution } from './block-execution.ts';
import type { BlockExecutor } from './block-executor.ts';
import type { OnRan } from './code/sandbox.ts';
import { SandboxCrashed } from './code/sandbox-errors.ts';
import { showRefusal } from './show-under-way.ts';

/** When the same code crashes this many sandboxes in a row, the code is at fault. */
const CRASHES_MAX = 3;
const CRASHED = 'The code crashed its sandbox.';

/**
 * Runs the JavaScript of a code block. The cost of its processor time is reserved first and charged however the code ends. Throws
 * PermitRejected when no process is free in time.
 */
export async function runCode(
  {
    sandbox,
    gates,
    db,
    balanceLimit,
    codePrice,
  }: Pick<ActivityDeps, 'sandbox' | 'gates' | 'db' | 'balanceLimit' | 'codePrice'>,
  blocks: BlockExecutor,
  execution: BlockExecution,
  attempt: Attempt,
): Promise<Value | Pause> {
  const { organizationId: organization, awaited } = await blocks.find(execution);
  const { callId, blockKey } = execution;
  let reservedAt: string | undefined;
  // Whole microcredits keep the product exact.
  const costOf = (ms: number) => Math.ceil((Math.round(codePrice * MICROCREDITS_PER_CREDIT) * ms) / 1_000);
  try {
    return await blocks.run(
      execution,
      attempt,
      async ({ block, input, message, parameters, outputs, payer, usage, printed }) => {
        using _processPermit = await acquire(gates.sandbox, organization, attempt, awaited ? 'high' : 'low');
        const timeoutMs = block.processor_config?.timeout_ms ?? CODE_TIMEOUT_DEFAULT_MS;
        const reservation = { ...payer, callId, blockKey, microcredits: costOf(timeoutMs) };
        if (codePrice > 0) {
          using _balancePermit = await balanceLimit.acquire(organization);
          reservedAt = await reserveCredits(db, reservation);
          usage.reserved = true;
        }
        const code = { source: block.prompt ?? '', input, message, parameters, outputs, timeoutMs };
        const run = (onRan: OnRan) => sandbox.run(organization, code, attempt.signal, onRan);
        const onRan: OnRan = (ms, logs) => {
          printed.logs = logs;
          usage.costMicrocredits = costOf(Math.min(ms, timeoutMs));
        };
        return await runUntilCrashes(run, onRan, async (tookMs) => {
          attempt.refusals += 1;
          const crash = { code: 'CODE_ERROR', message: CRASHED, tookMs, retryInMs: 0 } as const;
          await showRefusal(db, blocks, execution, attempt, crash).catch(() => undefined);
        });
      },
    );
  } catch (error) {
    // A result that is not recorded yet keeps its reservation.
    if (reservedAt && !attempt.kept)
      await releaseReservation(db, execution, reservedAt).catch(() => undefined);
    throw error;
  }
}

async function runUntilCrashes(
  run: (onRan: OnRan) => Promise<Output>,
  onRan: OnRan,
  onCrash: (tookMs: number) => Promise<void>,
): Promise<Output> {
  for (let crashes = 1; ; crashes += 1) {
    const began = performance.now();
    try {
      return await inSpan('sandbox', {}, (span) =>
        run((ms, logs) => {
          span.set({ 'weir.sandbox.processor_time': ms / 1_000 });
          onRan(ms, logs);
        }),
      );
    } catch (error) {
      if (!(error instanceof SandboxCrashed)) throw error;
      if (crashes < CRASHES_MAX) {
        await onCrash(performance.now() - began);
        continue;
      }
      // How much processor time it took is lost with its process.
      onRan(performance.now() - began, []);
      throw new ServiceError('CODE_ERROR', 'The code crashed its sandbox at every attempt.');
    }
  }
}
