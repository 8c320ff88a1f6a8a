// Preloaded before the worker's own preload: prints a line for each timer and promise hook that the SDK asks for in its threads.
import { writeSync } from 'node:fs';
import v8 from 'node:v8';
import vm from 'node:vm';
import { isMainThread } from 'node:worker_threads';

const STDOUT = 1;

if (!isMainThread) {
  const { runInContext } = vm.Script.prototype;
  vm.Script.prototype.runInContext = function countTimers(context, options) {
    writeSync(STDOUT, options?.timeout === undefined ? 'call\n' : 'call with timer\n');
    return runInContext.call(this, context, options);
  };
  const { createHook } = v8.promiseHooks;
  v8.promiseHooks.createHook = (hooks) => {
    writeSync(STDOUT, 'promise hook\n');
    return createHook(hooks);
  };
}
