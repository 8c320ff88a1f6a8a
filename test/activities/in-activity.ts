import { asyncLocalStorage, Context } from '@temporalio/activity';

/** Does `work` as the SDK does an activity, whose context has the given parts alone. */
export function inActivity<T>(parts: object, work: () => T): T {
  const context = Object.setPrototypeOf({ ...parts }, Context.prototype) as Context;
  return asyncLocalStorage.run(context, work);
}
