import { DefaultFailureConverter } from '@temporalio/common';

declare global {
  /** Set before the workflow code where payloads are encrypted (worker/queue-worker.ts). */
  var weirEncodesFailures: true | undefined;
}

/** Puts messages and stacks of failures into payloads where those are encrypted. The workflow bundle has it built in. */
export const failureConverter = new DefaultFailureConverter({
  encodeCommonAttributes: globalThis.weirEncodesFailures === true,
});
