// User code (spec: processor type `code`): QuickJS in WebAssembly, in processes of its own; `guest.ts` has the contract.
import { ApplicationFailure } from '@temporalio/common';
import { createTurns, type EndTurn } from '../../fairness/turns.ts';
import type { Json } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { findJsonExcess } from '../../flow/find-json-excess.ts';
import type { Frame } from './frames.ts';
import type { GuestHeader } from './guest.ts';
import { type GuestCall, SandboxUnavailable } from './guest-process.ts';
import { ERROR_LOGS_MAX_LENGTH, SOURCE_MAX_BYTES, VALUE_MAX_BYTES } from './limits.ts';
import { createPool, type Pool } from './pool.ts';

export { SandboxCrashed } from './guest-process.ts';

const DRAINED_DELAY_MS = 100;

/** One run of a block's source; `timeoutMs` is processor time. */
export type CodeCall = {
  source: string;
  input: Json;
  message: string;
  parameters: { [key: string]: Json };
  timeoutMs: number;
};

/** What the code returned, and its console output. */
export type CodeResult = { output: Json; logs: string };

/** An organization's turn at a process, to be ended once. */
export type CodeTurn = {
  /**
   * Rejects with ServiceError CODE_ERROR, CODE_TIMEOUT or CODE_LIMIT_EXCEEDED (the code's fault; `extra` has `line`
   * and the last `logs` where there are any), SandboxCrashed or SandboxUnavailable (may be tried again), or the signal's
   * reason. `onUsed` is told of the processor time that the code took, however it ended.
   */
  run(call: CodeCall, signal?: AbortSignal, onUsed?: (milliseconds: number) => void): Promise<CodeResult>;
  end: EndTurn;
};

export type Sandbox = {
  /** Waits until it is the organization's turn. */
  wait(organization: string, signal?: AbortSignal): Promise<CodeTurn>;
  /** The same within an instant, else undefined. */
  waitBriefly(organization: string, signal?: AbortSignal): Promise<CodeTurn | undefined>;
  /** Gives back who waits for a turn, for another worker; turns under way go on. */
  drain(): void;
  /** Ends every process; calls still running reject with SandboxUnavailable. */
  close(): Promise<void>;
};

/**
 * A sandbox in which one organization has at most `processes` processes, beside `reserve` for organizations that have
 * none. One process starts in the background now, the others when they are needed.
 */
export function createSandbox({ processes, reserve }: { processes: number; reserve: number }): Sandbox {
  // One more than all of the largest organization's stays warm, for who comes next.
  const pool = createPool({ size: processes + reserve, kept: processes + Math.min(reserve, 1) });
  const turns = createTurns({ places: processes, reserve });
  const toTurn = (end: EndTurn): CodeTurn => ({ end, run: (...args) => runCode(pool, ...args) });
  return {
    wait: async (organization, signal) => toTurn(await turns.wait(organization, signal)),
    async waitBriefly(organization, signal) {
      const end = await turns.waitBriefly(organization, signal);
      return end && toTurn(end);
    },
    drain: () =>
      turns.close(
        ApplicationFailure.create({
          type: 'WORKER_SHUTDOWN',
          message: 'The worker ended before it was the turn of this.',
          nextRetryDelay: DRAINED_DELAY_MS,
        }),
      ),
    close() {
      turns.close(new SandboxUnavailable('The sandbox was closed'));
      return pool.close();
    },
  };
}

async function runCode(
  pool: Pool,
  call: CodeCall,
  signal?: AbortSignal,
  onUsed?: (milliseconds: number) => void,
): Promise<CodeResult> {
  const encoded = encodeCall(call);
  const answering = pool.use(async (guest) => {
    const answer = await guest.call(encoded, signal);
    return { answer, reusable: isReusable(answer) };
  }, signal);
  const { answer } = await answering.catch((error: unknown) => {
    // Its process had to be killed.
    if (error instanceof ServiceError && error.code === 'CODE_TIMEOUT') onUsed?.(call.timeoutMs);
    throw error;
  });
  onUsed?.((answer.header as GuestHeader).processorMs);
  return readAnswer(answer);
}

function encodeCall({ source, input, message, parameters, timeoutMs }: CodeCall): GuestCall {
  if (Buffer.byteLength(source) > SOURCE_MAX_BYTES) {
    throw new ServiceError('CODE_LIMIT_EXCEEDED', `The code is over the limit of ${SOURCE_MAX_BYTES} bytes`);
  }
  const values = encodeJson({ input, message, parameters });
  if (values.length > VALUE_MAX_BYTES) {
    const text = `The input, message and parameters of the code are over the limit of ${VALUE_MAX_BYTES} bytes as JSON`;
    throw new ServiceError('CODE_LIMIT_EXCEEDED', text);
  }
  return { source, timeoutMs, values };
}

function encodeJson(value: Json): Buffer {
  try {
    return Buffer.from(JSON.stringify(value));
  } catch (error) {
    throw new ServiceError(
      'CODE_LIMIT_EXCEEDED',
      `The input of the code cannot be written as JSON: ${error}`,
    );
  }
}

/** A timeout or a memory fault may have left the process in any state. */
function isReusable(answer: Frame): boolean {
  const { failure } = answer.header as GuestHeader;
  return failure === undefined || failure.code === 'CODE_ERROR';
}

function readAnswer({ header, body }: Frame): CodeResult {
  const { logs, failure } = header as GuestHeader;
  if (failure === undefined) {
    const excess = findJsonExcess(body);
    if (excess) throw new ServiceError('OUTPUT_TOO_LARGE', `What the code returned ${excess}.`);
    return { output: JSON.parse(body.toString()) as Json, logs };
  }
  const extra: Record<string, unknown> = {};
  if (failure.line !== undefined) extra.line = failure.line;
  if (logs !== '') extra.logs = logs.slice(-ERROR_LOGS_MAX_LENGTH);
  throw new ServiceError(failure.code, failure.message, extra);
}
