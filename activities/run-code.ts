import { releaseReservation, reserveCredits } from '../db/credits/reservations.ts';
import { MICROCREDITS_PER_CREDIT } from '../flow/credit-amount.ts';
import { ServiceError } from '../flow/errors.ts';
import { CODE_TIMEOUT_DEFAULT_MS } from '../flow/limits.ts';
import type { Pause } from '../flow/tool-calls.ts';
import type { Value } from '../flow/value.ts';
import { inSpan } from '../platform/observability/tracing.ts';
import type { ActivityDeps } from './activity-deps.ts';
import { NoRoom } from './attempts/no-room.ts';
import type { Attempt } from './attempts/run-attempt.ts';
import type { Output } from './attempts/serialize-output.ts';
import type { BlockExecution } from './block-execution.ts';
import type { BlockExecutor } from './block-executor.ts';
import type { CodeCall, CodeTurn } from './code/sandbox.ts';
import { SandboxCrashed } from './code/sandbox-errors.ts';

/** When the same code crashes this many sandboxes in a row, the code is at fault. */
const CRASHES_MAX = 3;
/** How long a turn is held while the input is read: an object store that is away delays that for many seconds. */
const READING_MAX_MS = 250;

/**
 * Runs the JavaScript of a code block once its organization has a turn at a process; a local activity waits briefly, then throws
 * NoRoom. A block whose input takes long gives its turn to others, and takes another once it has the input. The cost of its
 * processor time is reserved first and charged however the code ends.
 */
export async function runCode(
  {
    sandbox,
    db,
    balanceLimit,
    codePrice,
  }: Pick<ActivityDeps, 'sandbox' | 'db' | 'balanceLimit' | 'codePrice'>,
  blocks: BlockExecutor,
  execution: BlockExecution,
  attempt: Attempt,
): Promise<Value | Pause> {
  const { isLocal, signal } = attempt;
  if (isLocal && !(await blocks.hasRoom(execution, attempt))) throw new NoRoom();
  const { organizationId: organization, awaited } = await blocks.find(execution, attempt);
  const takeTurn = (first: boolean) =>
    isLocal
      ? sandbox.waitBriefly(organization, signal, { first })
      : sandbox.wait(organization, signal, { patient: !awaited, first });
  let turn = await takeTurn(false);
  if (!turn) throw new NoRoom();
  const reading = setTimeout(() => {
    turn?.end();
    turn = undefined;
  }, READING_MAX_MS);
  const { callId, blockKey } = execution;
  let reservedAt: string | undefined;
  // Whole microcredits keep the product exact.
  const costOf = (ms: number) => Math.ceil((Math.round(codePrice * MICROCREDITS_PER_CREDIT) * ms) / 1_000);
  try {
    return await blocks.run(
      execution,
      attempt,
      async ({ block, input, message, parameters, outputs, payer, usage }) => {
        clearTimeout(reading);
        // It holds its input meanwhile.
        turn ??= await takeTurn(true);
        if (!turn) throw new NoRoom();
        const timeoutMs = block.processor_config?.timeout_ms ?? CODE_TIMEOUT_DEFAULT_MS;
        const reservation = { ...payer, callId, blockKey, microcredits: costOf(timeoutMs) };
        if (codePrice > 0) {
          using _permit = await balanceLimit.acquire(organization);
          reservedAt = await reserveCredits(db, reservation);
          usage.reserved = true;
        }
        const code = { source: block.prompt ?? '', input, message, parameters, outputs, timeoutMs };
        const output = await runUntilCrashes(turn, code, signal, (ms) => {
          usage.costMicrocredits = costOf(Math.min(ms, timeoutMs));
        });
        // The rest needs no process.
        turn.end();
        return output;
      },
    );
  } catch (error) {
    // A result that is not recorded yet keeps its reservation.
    if (reservedAt && !attempt.kept)
      await releaseReservation(db, execution, reservedAt).catch(() => undefined);
    throw error;
  } finally {
    clearTimeout(reading);
    turn?.end();
  }
}

async function runUntilCrashes(
  turn: CodeTurn,
  code: CodeCall,
  signal: AbortSignal,
  onUsed: (milliseconds: number) => void,
): Promise<Output> {
  for (let crashes = 1; ; crashes += 1) {
    const began = performance.now();
    try {
      return await inSpan('sandbox', {}, (span) =>
        turn.run(code, signal, (ms) => {
          span.set({ 'weir.sandbox.processor_time': ms / 1_000 });
          onUsed(ms);
        }),
      );
    } catch (error) {
      if (!(error instanceof SandboxCrashed)) throw error;
      if (crashes < CRASHES_MAX) continue;
      // How much processor time it took is lost with its process.
      onUsed(performance.now() - began);
      throw new ServiceError('CODE_ERROR', 'The code crashed its sandbox at every attempt.');
    }
  }
}
