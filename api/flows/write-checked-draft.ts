import type { FlowDefinition } from '../../flow/definition.ts';
import type { DefinitionTurns } from '../../platform/large-values/definition-turns.ts';
import { waitInTime } from '../http/take-bytes.ts';
import { draftETag } from './draft-etag.ts';

/** Does `work` on a locked flow whose draft was checked; undefined, with nothing done, when that has another draft now. */
type IfChecked = <T>(locked: FlowDefinition, work: () => Promise<T>) => Promise<T | undefined>;

type Writer = {
  draftChecks: DefinitionTurns;
  organizationId: string;
  /** Measures the draft as JSON, in bytes. */
  measure: () => Promise<number>;
  gone: AbortSignal;
};

/**
 * Does a write to a flow whose draft has passed `check`, which may take long and so comes before the flow is locked. `lock`
 * locks the flow and writes to it by `ifChecked`; a draft that changed meanwhile is checked, too. An organization has one draft
 * checked at a time, which `find` gets when it is its turn. Throws RATE_LIMITED when that does not come, and REQUEST_TIMEOUT when
 * `gone` aborts first.
 */
export async function writeCheckedDraft<T>(
  { draftChecks, organizationId, measure, gone }: Writer,
  find: () => Promise<{ draft: FlowDefinition }>,
  check: (draft: FlowDefinition) => Promise<void>,
  lock: (ifChecked: IfChecked) => Promise<T | undefined>,
): Promise<T> {
  const enter = (signal: AbortSignal) => draftChecks.enter(organizationId, measure, signal);
  const leave = await waitInTime(enter, gone);
  try {
    return await checkAndWrite((await find()).draft, check, lock);
  } finally {
    leave();
  }
}

async function checkAndWrite<T>(
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
