import type { Author } from '../../db/tenants/audit-entries.ts';
import type { ProjectAccess } from '../../db/tenants/project-access.ts';
import { authorOf, type Principal } from '../http/principal.ts';

/** A caller of the functions in this folder: which flows the caller may see, and who the audit log names. */
export type Caller = { access: ProjectAccess; author: Author };

/** Describes the caller of a request. */
export function toCaller(principal: Principal, requestId: string): Caller {
  const access = principal.kind === 'key' ? { projectId: principal.projectId } : { userId: principal.userId };
  return { access, author: authorOf(principal, requestId) };
}
