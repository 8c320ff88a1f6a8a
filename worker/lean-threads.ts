// Preloaded (`node --import`) into a worker's process and so into its workflow threads, where it takes away what the
// engine's SDK spends on code it does not trust, half of such a thread's time: a timer thread per call into the sandbox,
// and a stack trace per promise. Our workflow code is bounded by the interpreter's limits, and the Web UI shows where a
// run stands by its current details. Without this preload everything works, slower.
import v8 from 'node:v8';
import vm from 'node:vm';
import { isMainThread } from 'node:worker_threads';

if (!isMainThread) {
  const { runInContext } = vm.Script.prototype;
  vm.Script.prototype.runInContext = function runWithoutTimer(context, options) {
    return runInContext.call(this, context, { ...options, timeout: undefined });
  };
  v8.promiseHooks.createHook = () => () => undefined;
}
