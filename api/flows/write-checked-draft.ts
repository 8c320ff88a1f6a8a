import type { FlowDefinition } from '../../flow/definition.ts';
import { draftETag } from './draft-etag.ts';

/** Does `work` on a locked flow whose draft was checked; undefined, with nothing done, when that has another draft now. */
type IfChecked = <T>(locked: FlowDefinition, work: () => Promise<T>) => Promise<T | undefined>;

/**
 * Does a write to a flow whose draft has passed `check`, which may take long and so comes before the flow is locked. `lock`
 * locks the flow and writes to it by `ifChecked`; a draft that changed meanwhile is checked, too.
 */
export async function writeCheckedDraft<T>(
  draft: FlowDefinition,
  check: (draft: FlowDefinition) => Promise<void>,
  lock: (ifChecked: IfChecked) => Promise<T | undefined>,
): Promise<T> {
  for (let asked = draft; ; ) {
    await check(asked);
    const etag = draftETag(asked);
    const written = await lock(async (locked, work) => {
      if (draftETag(locked) === etag) return work();
      asked = locked;
      return undefined;
    });
    if (written !== undefined) return written;
  }
}
