// The program of the thread that works on large JSON texts, one at a time.
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { freeBytes } from './free-bytes.ts';
import { type Completion, TASKS, type TaskOptions } from './tasks.ts';

export type ThreadRequest = { task: keyof typeof TASKS; json: ArrayBuffer; options: TaskOptions };
/** `invalid`: why the text is not valid JSON. `failed`: the work could not be done here. */
export type ThreadReply = { done: unknown } | { invalid: string } | { failed: string };

/** The thread yields the processors to the rest of the service. */
const THREAD_NICENESS = 5;
/** On Linux this is the thread's alone; elsewhere it would be the whole service's. */
if (process.platform === 'linux') setPriority(THREAD_NICENESS);

parentPort?.on('message', (request: ThreadRequest) => {
  const reply = answer(request);
  freeBytes(new Uint8Array(request.json));
  const { content } = 'done' in reply ? (reply.done as Partial<Completion>) : {};
  try {
    parentPort?.postMessage(reply, content ? [content.buffer] : []);
  } catch (error) {
    // An answer nested too deeply to be copied.
    parentPort?.postMessage({ failed: String(error) } satisfies ThreadReply);
  }
});

function answer({ task, json, options }: ThreadRequest): ThreadReply {
  try {
    return { done: TASKS[task](new Uint8Array(json), options) };
  } catch (error) {
    return error instanceof SyntaxError ? { invalid: error.message } : { failed: String(error) };
  }
}
