// activities/code/ runs user code (docs/blocks.md, Code blocks) in QuickJS, compiled to WebAssembly, in confined processes.
// A source and its values go in as JSON; the output comes out. `guest.ts` has the contract with authors.
import { type CodeLog, LOG_LEVELS } from '../../flow/code-log.ts';
import type { Json } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { LARGE_JSON_BYTES, type LargeJson } from '../../platform/large-values/large-json.ts';
import { sandboxDuration, sandboxTimeouts } from '../../platform/observability/metrics/worker-metrics.ts';
import type { Output } from '../attempts/serialize-output.ts';
import type { Frame } from './frames.ts';
import type { GuestHeader } from './guest.ts';
import type { GuestCall } from './guest-process.ts';
import { INPUT_MAX_BYTES, LOG_LIMITS, SOUND_FAILURES, SOURCE_MAX_BYTES } from './limits.ts';
import { createPool, type Pool } from './pool.ts';
import { SandboxCrashed, SandboxUnavailable } from './sandbox-errors.ts';

/** One run of a block's source; `timeoutMs` is processor time. */
export type CodeCall = {
  source: string;
  input: Json;
  message: string;
  parameters: { [key: string]: Json };
  outputs: { [stepId: string]: Json };
  timeoutMs: number;
};

export type OnRan = (processorMs: number, logs: CodeLog[]) => void;

export type Sandbox = {
  /**
   * Runs code of an organization, which holds a permit for that. Rejects with ServiceError CODE_ERROR, CODE_TIMEOUT,
   * CODE_LIMIT_EXCEEDED or OUTPUT_TOO_LARGE (the code's fault), SandboxCrashed or SandboxUnavailable (may be retried), or the
   * signal's reason. `onRan` receives the processor time that the code took and its console lines, however it ended; of a process
   * that had to be killed, no lines.
   */
  run(organization: string, call: CodeCall, signal?: AbortSignal, onRan?: OnRan): Promise<Output>;
  /** Ends every process; calls still running reject with SandboxUnavailable. */
  close(): Promise<void>;
};

/**
 * Creates a sandbox of at most `processes` processes. One starts in the background now, the others when they are needed.
 */
export function createSandbox({
  processes,
  largeJson,
}: {
  processes: number;
  largeJson: LargeJson;
}): Sandbox {
  const pool = createPool({ size: processes });
  return {
    run: (organization, call, signal, onRan) =>
      measureCode(async () => {
        const answer = await runInProcess(pool, call, signal, onRan);
        return readAnswer(largeJson, organization, answer, signal);
      }),
    close: () => pool.close(),
  };
}

async function runInProcess(
  pool: Pool,
  call: CodeCall,
  signal: AbortSignal | undefined,
  onRan?: OnRan,
): Promise<Frame> {
  const encoded = encodeCall(call);
  const answering = pool.use(async (guest) => {
    const answer = await guest.call(encoded, signal);
    return { answer, reusable: isReusable(answer) };
  }, signal);
  const { answer } = await answering.catch((error: unknown) => {
    // The process had to be killed, so it could not report its time.
    if (error instanceof ServiceError && error.code === 'CODE_TIMEOUT') onRan?.(call.timeoutMs, []);
    throw error;
  });
  const { processorMs, logs } = answer.header as GuestHeader;
  onRan?.(processorMs, readLogs(logs));
  return answer;
}

/** The code may have broken out of its QuickJS: reads what has the form of console lines, within the limits. */
function readLogs(sent: unknown): CodeLog[] {
  const lines = (Array.isArray(sent) ? sent : []).slice(0, LOG_LIMITS.lines) as Partial<CodeLog>[];
  return lines.flatMap((line) => {
    const { level, text, omittedBefore: omitted } = line ?? {};
    if (level === undefined || !LOG_LEVELS.includes(level) || typeof text !== 'string') return [];
    return [{ level, text, ...(Number.isSafeInteger(omitted) && { omittedBefore: omitted as number }) }];
  });
}

function encodeCall({ source, timeoutMs, ...given }: CodeCall): GuestCall {
  if (Buffer.byteLength(source) > SOURCE_MAX_BYTES) {
    throw new ServiceError('CODE_LIMIT_EXCEEDED', `The code is over the limit of ${SOURCE_MAX_BYTES} bytes`);
  }
  const values = encodeJson(given);
  if (values.length > INPUT_MAX_BYTES) {
    const text = `The input, message, parameters and outputs that the code gets are over the limit of ${INPUT_MAX_BYTES} bytes as JSON`;
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

function isReusable(answer: Frame): boolean {
  const { failure } = answer.header as GuestHeader;
  return failure === undefined || SOUND_FAILURES.includes(failure.code);
}

async function readAnswer(
  largeJson: LargeJson,
  organization: string,
  { header, body }: Frame,
  signal: AbortSignal | undefined,
): Promise<Output> {
  const { failure } = header as GuestHeader;
  if (failure === undefined) {
    const isLarge = body.length >= LARGE_JSON_BYTES;
    const look = isLarge ? largeJson.check : largeJson.measure;
    const { excess, values } = await look(organization, body, { signal });
    if (excess) throw new ServiceError('OUTPUT_TOO_LARGE', `What the code returned ${excess}.`);
    return isLarge ? { json: body, values } : { output: JSON.parse(body.toString()) as Json };
  }
  throw new ServiceError(failure.code, failure.message);
}

/** Measures one run of user code, and how it ended. */
async function measureCode<T>(work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  let result = 'completed';
  try {
    return await work();
  } catch (error) {
    result = resultOf(error);
    if (result === 'CODE_TIMEOUT') sandboxTimeouts.add(1);
    throw error;
  } finally {
    sandboxDuration.record((performance.now() - began) / 1_000, { result });
  }
}

function resultOf(error: unknown): string {
  if (error instanceof ServiceError) return error.code;
  if (error instanceof SandboxCrashed) return 'crashed';
  return error instanceof SandboxUnavailable ? 'unavailable' : 'aborted';
}
