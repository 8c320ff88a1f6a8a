// Preloaded (`node --import`) into a worker's process, and so into its workflow threads. There it turns off two things that
// the engine's SDK does for code it does not trust, and that take half of such a thread's time (docs/decisions/0012-workflow-watchdog-disabled.md): a timer
// thread for each call into the sandbox, and a stack trace for each promise. Weir's workflow code is bounded by the
// interpreter's limits, and the Web UI shows a run's position as current details. Without this preload everything works,
// slower.
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
