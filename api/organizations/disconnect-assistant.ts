import type { Tx } from '../../db/connect.ts';
import { type Author, recordUserChange } from '../../db/tenants/audit-entries.ts';
import { disconnect } from '../../db/tenants/connected-assistants.ts';

/** Disconnects an assistant of a user: its tokens are rejected until the user consents again. Throws NOT_FOUND. */
export async function disconnectAssistant(tx: Tx, author: Author, userId: string, id: string) {
  const row = await disconnect(tx, userId, id);
  await recordUserChange(tx, author, {
    userId,
    action: 'assistant.disconnect',
    resourceId: id,
    details: { user_id: userId, client_id: row.client_id, name: row.name },
  });
  return row;
}
