// Publishing a flow's draft and choosing its production version. Each write records itself in the audit log.
import type { Tx } from '../../db/connect.ts';
import { publishVersion, setProductionVersion } from '../../db/flows/flows.ts';
import { type Author, recordChange } from '../../db/tenants/audit-entries.ts';

type Flow = { id: string; organizationId: string };

/** Publishes the draft as a new version, whose number it answers. Throws NOT_FOUND. */
export async function publishFlow(tx: Tx, author: Author, flow: Flow, note: string): Promise<number> {
  const { id, organizationId } = flow;
  const version = await publishVersion(tx, id, note);
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
