import { randomUUID } from 'node:crypto';
import type { Author } from '../../db/tenants/audit-entries.ts';

/** Names the operator in the audit log, as the author of what one command changes. */
export function operator(): Author {
  return { actor: 'operator', requestId: randomUUID() };
}
