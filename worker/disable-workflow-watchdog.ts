// Preloaded (`node --import`) into a worker's process, and so into its workflow threads. Turns off two things that the SDK
// does for code it does not trust: a timer thread for each call into the sandbox, and a stack trace for each promise. They
// take half of the time of a workflow thread (docs/decisions/0012-workflow-watchdog-disabled.md).
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
