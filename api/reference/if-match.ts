// Conditional writes (RFC 9110), as the API document has them.
import { z } from 'zod';
import { changedSince } from '../http/etag.ts';
import { etag } from './flow-examples.ts';
import { errorAnswer, examplesOf } from './operations.ts';

/** The request header of a write that `requireMatch` checks. */
export const ifMatch = z.object({
  'If-Match': z
    .string()
    .optional()
    .meta({ description: 'The ETag that you read. Answers 412 if the ETag has changed since.' }),
});

/** The response header of what can be written with `ifMatch`. */
export function etagOfWhat(names: string) {
  return { ETag: z.string().optional().meta({ description: names }) };
}

/** The error answer of `requireMatch`, by what has changed. */
export const CHANGED = {
  draft: changed('DraftChanged', 'draft'),
  flow: changed('FlowChanged', 'flow'),
  testCase: changed('TestCaseChanged', 'test case'),
};

function changed(id: string, what: string) {
  const description = `The ${what} has changed; \`detail.etag\` is its ETag.`;
  return { 412: { id, ...errorAnswer(description, examplesOf(changedSince(what, etag))) } };
}
