// User code (spec: processor type `code`): QuickJS in WebAssembly, in processes of its own; `guest.ts` has the contract.
import { findExcess } from '../../flow/count-json.ts';
import type { Json } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { encodeFrame, type Frame } from './frames.ts';
import type { CallHeader } from './guest.ts';
import { ERROR_LOGS_MAX_LENGTH, SOURCE_MAX_BYTES, VALUE_MAX_BYTES } from './limits.ts';
import type { Failure } from './machine.ts';
import { createPool } from './pool.ts';

export { SandboxCrashed } from './guest-process.ts';

/** One run of a block's source; `timeoutMs` counts from when a process takes the call. */
export type CodeCall = {
  source: string;
  input: Json;
  message: string;
  parameters: { [key: string]: Json };
  timeoutMs: number;
};

/** What the code returned, and its console output. */
export type CodeResult = { output: Json; logs: string };

export type Sandbox = {
  /**
   * Rejects with ServiceError CODE_ERROR, CODE_TIMEOUT or CODE_LIMIT_EXCEEDED (the code's fault; `extra` has `line`
   * and the last `logs` where there are any), SandboxCrashed (may be tried again) or the signal's reason.
   */
  run(call: CodeCall, signal?: AbortSignal): Promise<CodeResult>;
  /** Ends every process; calls still running reject with SandboxCrashed. */
  close(): Promise<void>;
};

/** A sandbox of at most `processes` processes: one starts in the background now, the others when calls wait. */
export function createSandbox(options: { processes: number }): Sandbox {
  const pool = createPool(options.processes);
  return {
    async run(call, signal) {
      const frame = encodeCall(call);
      const { answer } = await pool.use(async (guest) => {
        const answer = await guest.call(frame, call.timeoutMs, signal);
        return { answer, reusable: isReusable(answer) };
      }, signal);
      return readAnswer(answer);
    },
    close: () => pool.close(),
  };
}

type AnswerHeader = { logs: string; failure?: Failure };

function encodeCall({ source, input, message, parameters, timeoutMs }: CodeCall): Buffer {
  if (Buffer.byteLength(source) > SOURCE_MAX_BYTES) {
    throw new ServiceError('CODE_LIMIT_EXCEEDED', `The code is over the limit of ${SOURCE_MAX_BYTES} bytes`);
  }
  const body = encodeJson({ input, message, parameters });
  if (body.length > VALUE_MAX_BYTES) {
    const text = `The input, message and parameters of the code are over the limit of ${VALUE_MAX_BYTES} bytes as JSON`;
    throw new ServiceError('CODE_LIMIT_EXCEEDED', text);
  }
  const header: CallHeader = { source, timeoutMs };
  return encodeFrame(header, body);
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
  const { failure } = answer.header as AnswerHeader;
  return failure === undefined || failure.code === 'CODE_ERROR';
}

function readAnswer({ header, body }: Frame): CodeResult {
  const { logs, failure } = header as AnswerHeader;
  if (failure === undefined) {
    const excess = findExcess(body);
    if (excess) throw new ServiceError('OUTPUT_TOO_LARGE', `What the code returned ${excess}.`);
    return { output: JSON.parse(body.toString()) as Json, logs };
  }
  const extra: Record<string, unknown> = {};
  if (failure.line !== undefined) extra.line = failure.line;
  if (logs !== '') extra.logs = logs.slice(-ERROR_LOGS_MAX_LENGTH);
  throw new ServiceError(failure.code, failure.message, extra);
}
