import type { FlowDefinition } from '../../flow/definition.ts';
import type { DefinitionTurns } from '../../platform/large-values/definition-turns.ts';
import { waitInTime } from '../http/take-bytes.ts';
import { draftETag } from './draft-etag.ts';

/** Runs `work` on a locked flow if its draft is the checked one. Otherwise does nothing and returns undefined. */
type IfChecked = <T>(locked: FlowDefinition, work: () => Promise<T>) => Promise<T | undefined>;

type Writer = {
  draftChecks: DefinitionTurns;
  organizationId: string;
  /** Measures the draft as JSON, in bytes. */
  measure: () => Promise<number>;
  gone: AbortSignal;
};

/**
 * Writes to a flow whose draft has passed `check`. The check may take long, so it runs before the flow is locked.
 * `lock` locks the flow and writes by `ifChecked`; a draft that changed meanwhile is checked again. An organization
 * has one draft checked at a time; `find` loads the draft under that permit. Throws RATE_LIMITED when the permit does
 * not come in time, and REQUEST_TIMEOUT when `gone` aborts first.
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
