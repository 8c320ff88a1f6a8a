import { etag } from '../reference/flow-examples.ts';
import { examplesOf, refusal } from '../reference/operations.ts';
import { draftChanged } from './draft-etag.ts';

/** The refusal by `requireMatch`, as the API document has it. */
export const DRAFT_CHANGED = {
  412: refusal('The draft has changed; `detail.etag` is its ETag.', examplesOf(draftChanged(etag))),
};
