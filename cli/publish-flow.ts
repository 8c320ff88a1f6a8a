// Publishing and promoting, with their entries in the audit log.
import type { Recorder } from '../api/management/audited.ts';
import type { Tx } from '../db/connect.ts';
import { publishVersion, setProductionVersion } from '../db/flows/flows.ts';

type Flow = { id: string; organizationId: string };

/** Answers the version's number. */
export async function publishFlow(tx: Tx, record: Recorder, flow: Flow, note: string): Promise<number> {
  const { id, organizationId } = flow;
  const version = await publishVersion(tx, id, note);
  await record({ organizationId, action: 'flow.publish', resourceId: id, details: { version, note } });
  return version;
}

export async function promoteFlow(tx: Tx, record: Recorder, flow: Flow, version: number): Promise<void> {
  const { id, organizationId } = flow;
  await setProductionVersion(tx, id, version);
  await record({ organizationId, action: 'flow.set_production', resourceId: id, details: { version } });
}
