// Writes to flows, shared by HTTP, MCP and the `weir` command. Each records itself in the audit log.
import type { Tx } from '../../db/connect.ts';
import { findDraft, measureDraft } from '../../db/flows/flow-designs.ts';
import {
  deleteFlow,
  type FlowRow,
  flowIdNotFound,
  insertFlow,
  updateDraft,
  updateNames,
} from '../../db/flows/flows.ts';
import {
  DraftChanged,
  findVersionOfDraft,
  lockDraft,
  publishVersion,
  setProductionVersion,
} from '../../db/flows/versions.ts';
import { type Author, recordChange } from '../../db/tenants/audit-entries.ts';
import type { FlowDefinition, Json } from '../../flow/definition.ts';
import { acquireDefinition } from '../../platform/large-values/large-values.ts';
import type { ApiDeps } from '../deps.ts';
import { waitInTime } from '../http/wait-in-time.ts';
import { requireSound } from './draft-problems.ts';

type Flow = { id: string; organizationId: string };
type Project = { id: string; organization_id: string };
type Named = { name?: string; description?: string };

/** Creates a flow with an empty draft. Throws CONFLICT when the slug is taken. */
export async function createFlow(
  tx: Tx,
  author: Author,
  { id: projectId, organization_id: organizationId }: Project,
  named: { slug: string; name: string; description?: string },
): Promise<FlowRow> {
  const flow = await insertFlow(tx, { projectId, ...named });
  const details = { slug: flow.slug };
  await recordChange(tx, author, { organizationId, action: 'flow.create', resourceId: flow.id, details });
  return flow;
}

/** Changes the name or description of a flow. Does nothing when both are the same already. Throws NOT_FOUND. */
export async function renameFlow(
  tx: Tx,
  author: Author,
  { id, organizationId }: Flow,
  named: Named,
  origin: { tool?: string } = {},
): Promise<void> {
  if (!(await updateNames(tx, id, named))) return;
  const details = { ...origin, ...named };
  await recordChange(tx, author, { organizationId, action: 'flow.edit', resourceId: id, details });
}

/**
 * Replaces the draft of a locked flow. A draft may be incomplete, but not wrong: throws INVALID_TREE when no addition
 * could complete it.
 */
export async function replaceDraft(
  tx: Tx,
  author: Author,
  { id, organizationId }: Flow,
  draft: FlowDefinition,
  details: { [field: string]: Json },
): Promise<void> {
  requireSound(draft);
  await updateDraft(tx, id, draft);
  await recordChange(tx, author, { organizationId, action: 'flow.edit', resourceId: id, details });
}

/**
 * Publishes the draft with the digest `checked` as a new version. A draft that is the same as the latest version is that version,
 * which keeps its note. Throws as `lockDraft` and `publishVersion` do.
 */
export async function publishFlow(
  tx: Tx,
  author: Author,
  { id, organizationId }: Flow,
  note: string,
  checked: Buffer,
): Promise<{ version: number; isNew: boolean }> {
  await lockDraft(tx, id, checked);
  const same = await findVersionOfDraft(tx, id);
  if (same !== undefined) return { version: same, isNew: false };
  const version = await publishVersion(tx, id, note, { publishedBy: author.actor });
  const details = { version, note };
  await recordChange(tx, author, { organizationId, action: 'flow.publish', resourceId: id, details });
  return { version, isNew: true };
}

/**
 * Checks the draft of a flow and publishes it. The check may take long, so it comes before `publish` locks the flow and compares
 * the digest of the draft; a draft that changed meanwhile is checked again. `hold` reserves memory for the draft. Throws
 * RATE_LIMITED when the permit does not come in time, and REQUEST_TIMEOUT when `gone` aborts first.
 */
export async function publishChecked<T>(
  { db, largeValues }: Pick<ApiDeps, 'db' | 'largeValues'>,
  { id, organizationId }: Flow,
  gone: AbortSignal,
  {
    hold,
    check,
    publish,
  }: {
    hold(bytes: number): Promise<void>;
    check(draft: FlowDefinition): Promise<void>;
    publish(checked: Buffer): Promise<T>;
  },
): Promise<T> {
  const bytes = await measureDraft(db, id);
  const acquire = (signal: AbortSignal) => acquireDefinition(largeValues, organizationId, bytes, signal);
  using _permit = await waitInTime(acquire, gone);
  await hold(bytes);
  for (;;) {
    const found = await findDraft(db, id);
    if (!found) throw flowIdNotFound();
    await check(found.draft);
    try {
      return await publish(found.digest);
    } catch (error) {
      if (!(error instanceof DraftChanged)) throw error;
    }
  }
}

/** Makes a published version the production version. Throws NOT_FOUND. */
export async function promoteFlow(tx: Tx, author: Author, flow: Flow, version: number): Promise<void> {
  const { id, organizationId } = flow;
  await setProductionVersion(tx, id, version);
  const details = { version };
  await recordChange(tx, author, { organizationId, action: 'flow.set_production', resourceId: id, details });
}

/** Deletes a flow: its slug is free again, and new runs are rejected. Runs in flight continue. Throws NOT_FOUND. */
export async function removeFlow(tx: Tx, author: Author, { id, organizationId }: Flow): Promise<void> {
  const slug = await deleteFlow(tx, id);
  const details = { slug };
  await recordChange(tx, author, { organizationId, action: 'flow.delete', resourceId: id, details });
}
