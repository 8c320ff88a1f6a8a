import { DefaultFailureConverter } from '@temporalio/common';
import { settings } from './settings.ts';

/** Puts messages and stacks of failures into payloads where those are encrypted. The workflow bundle has it built in. */
export const failureConverter = new DefaultFailureConverter({
  encodeCommonAttributes: settings.encodesFailures,
});
