// The program of the thread that works on large JSON texts and code, one at a time.
import { parentPort } from 'node:worker_threads';
import { beginThread } from '../limits/thread.ts';
import { freeBytes } from './free-bytes.ts';
import { type Completion, TASKS, type TaskOptions } from './tasks.ts';

export type ThreadRequest = { task: keyof typeof TASKS; json: ArrayBuffer; options: TaskOptions };
/** `invalid`: why the text is not valid JSON. `failed`: the work could not be done here. */
export type ThreadReply = { done: unknown } | { invalid: string } | { failed: string };

beginThread();
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
