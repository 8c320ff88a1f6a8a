// Writes to flows, shared by HTTP, MCP and the `weir` command. Each records itself in the audit log.
import type { Tx } from '../../db/connect.ts';
import { deleteFlow, type FlowRow, insertFlow, updateDraft, updateNames } from '../../db/flows/flows.ts';
import { publishVersion, setProductionVersion } from '../../db/flows/versions.ts';
import { type Author, recordChange } from '../../db/tenants/audit-entries.ts';
import type { FlowDefinition, Json } from '../../flow/definition.ts';
import type { FairQueue } from '../../platform/limits/fair-queue.ts';
import { waitInTime } from '../http/wait-in-time.ts';
import { requireSound } from './draft-problems.ts';
import { draftETag } from './flow-etag.ts';

/** Runs `work` on a locked flow if its draft is the checked one. Otherwise does nothing and returns undefined. */
type IfChecked = <T>(locked: FlowDefinition, work: () => Promise<T>) => Promise<T | undefined>;

type Writer = {
  definitions: FairQueue;
  organizationId: string;
  /** Measures the draft as JSON, in bytes. */
  measure: () => Promise<number>;
  gone: AbortSignal;
};

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

/** Publishes the draft as a new version and returns its number. Throws NOT_FOUND. */
export async function publishFlow(tx: Tx, author: Author, flow: Flow, note: string): Promise<number> {
  const { id, organizationId } = flow;
  const version = await publishVersion(tx, id, note, author.actor);
  const details = { version, note };
  await recordChange(tx, author, { organizationId, action: 'flow.publish', resourceId: id, details });
  return version;
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

/**
 * Writes to a flow whose draft has passed `check`. The check may take long, so it runs before the flow is locked.
 * `lock` locks the flow and writes by `ifChecked`; a draft that changed meanwhile is checked again. `find`
 * loads the draft under a permit for its bytes. Throws RATE_LIMITED when the permit does not come in time, and
 * REQUEST_TIMEOUT when `gone` aborts first.
 */
export async function writeCheckedDraft<T>(
  { definitions, organizationId, measure, gone }: Writer,
  find: () => Promise<{ draft: FlowDefinition }>,
  check: (draft: FlowDefinition) => Promise<void>,
  lock: (ifChecked: IfChecked) => Promise<T | undefined>,
): Promise<T> {
  const acquire = async (signal: AbortSignal) =>
    definitions.acquire(organizationId, { weight: await measure(), signal });
  using _permit = await waitInTime(acquire, gone);
  return await checkAndWrite((await find()).draft, check, lock);
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
