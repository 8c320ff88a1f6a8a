// The program of a validator thread, which compiles and validates schemas and can be killed.
import { parentPort, workerData } from 'node:worker_threads';
import type { Json } from '../../flow/definition.ts';
import { beginThread } from '../limits/thread.ts';
import { CompilationError, createCompiledSchemas, type SchemaProblem } from './compile-schema.ts';
import { ENDLESS } from './estimate-steps.ts';
import { COMPILATION_MAX_MS, VALIDATING, VALIDATION_MAX_MS } from './limits.ts';

/** `schema` and `value` are JSON text, which is passed on far faster than parsed; without `value` the schema is only compiled. */
export type ThreadRequest = { organization: string; schema: string; value?: string };
export type ThreadReply =
  | { problems: SchemaProblem[] }
  | { invalid: { message: string; path?: string | undefined; culprit?: string | undefined } };

/**
 * Shared with the pool: the deadline of the current work (monotonic clock, nanoseconds), the processor time that this
 * thread may have used by then (microseconds), and whether it is VALIDATING rather than compiling.
 */
const limits = new BigInt64Array(workerData as SharedArrayBuffer);
const getCompiled = createCompiledSchemas();

beginThread();
parentPort?.on('message', (request: ThreadRequest) => parentPort?.postMessage(answer(request)));

function answer({ organization, schema, value: text }: ThreadRequest): ThreadReply {
  try {
    // Not counted: its size is bounded where it comes from.
    const value: Json | undefined = text === undefined ? undefined : JSON.parse(text);
    allow(COMPILATION_MAX_MS);
    const validate = getCompiled(organization, schema);
    if (value === undefined) return { problems: [] };
    allow(VALIDATION_MAX_MS, VALIDATING);
    return { problems: validate(value) };
  } catch (error) {
    if (error instanceof CompilationError) {
      return { invalid: { message: error.message, path: error.path, culprit: error.culprit } };
    }
    if (error instanceof RangeError) return { invalid: { message: ENDLESS } };
    return { invalid: { message: error instanceof Error ? error.message : String(error) } };
  }
}

function allow(milliseconds: number, phase = 0n): void {
  const { user, system } = process.threadCpuUsage();
  Atomics.store(limits, 2, phase);
  Atomics.store(limits, 1, BigInt(user + system + milliseconds * 1_000));
  Atomics.store(limits, 0, process.hrtime.bigint() + BigInt(milliseconds) * 1_000_000n);
}
