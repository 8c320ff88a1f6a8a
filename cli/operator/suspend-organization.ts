import { type Db, inTransaction } from '../../db/connect.ts';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import { endSuspension, suspendOrganization } from '../../db/tenants/suspensions.ts';
import { formatTime, oneLine } from '../terminal/format-table.ts';
import type { CommandResult } from '../terminal/print-result.ts';
import { getOrganization } from './get-by-path.ts';
import { operator } from './operator.ts';

/** Stops an organization from beginning and continuing runs, from its next request on. What is under way goes on. */
export async function suspend(db: Db, slug: string, { reason }: { reason?: string }): Promise<CommandResult> {
  const { id } = await getOrganization(db, slug);
  await inTransaction(db, async (tx) => {
    if (!(await suspendOrganization(tx, id, reason))) return;
    await recordChange(tx, operator(), {
      organizationId: id,
      action: 'organization.suspend',
      resourceId: id,
      details: { reason: reason ?? null },
    });
  });
  const { suspended_at: suspendedAt, suspension_reason: suspensionReason } = await getOrganization(db, slug);
  return {
    json: { organization: slug, suspendedAt, suspensionReason },
    text: [
      `${slug} has been suspended since ${formatTime(suspendedAt)}: it can begin and continue no runs.`,
      suspensionReason
        ? `Its callers are told the reason: ${oneLine(suspensionReason)}`
        : 'No reason is given.',
      `Its runs under way go on. To cancel them: weir operator runs cancel --organization ${slug} --status started`,
      `To let it go on: weir operator org resume ${slug}`,
    ].join('\n'),
  };
}

/** Lets a suspended organization begin and continue runs again. */
export async function resume(db: Db, slug: string): Promise<CommandResult> {
  const { id } = await getOrganization(db, slug);
  const changed = await inTransaction(db, async (tx) => {
    const wasSuspended = await endSuspension(tx, id);
    const change = { organizationId: id, action: 'organization.resume', resourceId: id };
    if (wasSuspended) await recordChange(tx, operator(), change);
    return wasSuspended;
  });
  return {
    json: { organization: slug, suspendedAt: null, suspensionReason: null },
    text: changed
      ? `${slug} can begin and continue runs again.`
      : `${slug} was not suspended: it can begin and continue runs.`,
  };
}
