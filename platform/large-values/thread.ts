// The program of the thread that works on large JSON texts and code, one at a time.
import { beginThread } from '../limits/thread.ts';
import { TASKS, type TaskOptions } from './tasks.ts';

export type Task = { name: keyof typeof TASKS; json: Uint8Array; options: TaskOptions };

beginThread();

/** Does a task. Throws SyntaxError. */
export default function doTask({ name, json, options }: Task): unknown {
  return TASKS[name](json, options);
}
