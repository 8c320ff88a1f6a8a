// activities/code/ runs user code (docs/blocks.md, Code blocks) in QuickJS, compiled to WebAssembly, in confined processes.
// A source and its values go in as JSON; the output comes out. `guest.ts` has the contract with authors.
import type { Json } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { LARGE_JSON_BYTES, type LargeJson } from '../../platform/large-values/large-json.ts';
import { createByteBudget } from '../../platform/limits/byte-budget.ts';
import type { WaitOptions } from '../../platform/limits/line.ts';
import { createTurns, type EndTurn } from '../../platform/limits/turns.ts';
import {
  sandboxDuration,
  sandboxTimeouts,
  sandboxWaiting,
} from '../../platform/observability/metrics/worker-metrics.ts';
import type { Output } from '../attempts/serialize-output.ts';
import type { Frame } from './frames.ts';
import type { GuestHeader } from './guest.ts';
import type { GuestCall } from './guest-process.ts';
import { INPUT_MAX_BYTES, SOUND_FAILURES, SOURCE_MAX_BYTES } from './limits.ts';
import { createPool, type Pool } from './pool.ts';
import { SandboxCrashed, SandboxUnavailable } from './sandbox-errors.ts';

/** Results that wait for the thread that reads them, and whose processes are free: beyond these bytes each keeps its turn. */
const UNREAD = { total: 64 * 1024 * 1024, share: 16 * 1024 * 1024 };

/** One run of a block's source; `timeoutMs` is processor time. */
export type CodeCall = {
  source: string;
  input: Json;
  message: string;
  parameters: { [key: string]: Json };
  outputs: { [stepId: string]: Json };
  timeoutMs: number;
};

/** An organization's turn at a process, to be ended once. */
export type CodeTurn = {
  /**
   * Runs the code. Rejects with ServiceError CODE_ERROR, CODE_TIMEOUT, CODE_LIMIT_EXCEEDED or OUTPUT_TOO_LARGE (the code's
   * fault), SandboxCrashed or SandboxUnavailable (may be retried), or the signal's reason. `onUsed` receives the processor time
   * that the code took, however it ended. The turn ends before a large result is read, which others' results may delay.
   */
  run(call: CodeCall, signal?: AbortSignal, onUsed?: (milliseconds: number) => void): Promise<Output>;
  end: EndTurn;
};

export type Sandbox = {
  /** Waits for the organization's turn, as `Turns` do. */
  wait(organization: string, signal?: AbortSignal, options?: WaitOptions): Promise<CodeTurn>;
  /** Waits an instant at most; undefined when the turn has not come by then. */
  waitBriefly(
    organization: string,
    signal?: AbortSignal,
    options?: WaitOptions,
  ): Promise<CodeTurn | undefined>;
  /** Rejects those who wait for a turn, so that another worker can take them; turns under way continue. */
  drain(reason: Error): void;
  /** Ends every process; calls still running reject with SandboxUnavailable. */
  close(): Promise<void>;
};

/**
 * Creates a sandbox in which one organization has at most `processes` processes; `reserve` more are for organizations that
 * have none. One process starts in the background now, the others when they are needed.
 */
export function createSandbox({
  processes,
  reserve,
  largeJson,
}: {
  processes: number;
  reserve: number;
  largeJson: LargeJson;
}): Sandbox {
  const pool = createPool({ size: processes + reserve });
  const turns = createTurns({ places: processes, reserve });
  const unread = createByteBudget(UNREAD.total, UNREAD.share);
  const stopMeasuring = sandboxWaiting.observe(() => [{ value: turns.countWaiting() }]);
  const toTurn = (organization: string, end: EndTurn, takesSpare: boolean): CodeTurn => ({
    end,
    run(call, signal, onUsed) {
      return measureCode(async () => {
        const answer = await runInProcess(pool, call, { signal, takesSpare }, onUsed);
        const { length } = answer.body;
        const giveBack = length < LARGE_JSON_BYTES ? undefined : unread.takeNow(organization, length);
        if (giveBack) end();
        return readAnswer(largeJson, organization, answer, signal).finally(giveBack);
      });
    },
  });
  return {
    async wait(organization, signal, options) {
      const takesSpare = turns.countUnderWay(organization) === 0;
      return toTurn(organization, await turns.wait(organization, signal, options), takesSpare);
    },
    async waitBriefly(organization, signal, options) {
      const takesSpare = turns.countUnderWay(organization) === 0;
      const end = await turns.waitBriefly(organization, signal, options);
      return end && toTurn(organization, end, takesSpare);
    },
    drain: (reason) => turns.close(reason),
    close() {
      stopMeasuring();
      turns.close(new SandboxUnavailable('The sandbox was closed'));
      return pool.close();
    },
  };
}

async function runInProcess(
  pool: Pool,
  call: CodeCall,
  asked: { signal: AbortSignal | undefined; takesSpare: boolean },
  onUsed?: (milliseconds: number) => void,
): Promise<Frame> {
  const encoded = encodeCall(call);
  const answering = pool.use(async (guest) => {
    const answer = await guest.call(encoded, asked.signal);
    return { answer, reusable: isReusable(answer) };
  }, asked);
  const { answer } = await answering.catch((error: unknown) => {
    // The process had to be killed, so it could not report its time.
    if (error instanceof ServiceError && error.code === 'CODE_TIMEOUT') onUsed?.(call.timeoutMs);
    throw error;
  });
  onUsed?.((answer.header as GuestHeader).processorMs);
  return answer;
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
