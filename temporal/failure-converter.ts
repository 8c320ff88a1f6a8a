import { DefaultFailureConverter } from '@temporalio/common';

/** Puts messages and stacks of failures into payloads, which the codecs then encrypt; clients and workers load it by its path. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
