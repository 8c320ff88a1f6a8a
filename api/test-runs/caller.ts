import type { Author } from '../../db/tenants/audit-entries.ts';
import type { ProjectAccess } from '../../db/tenants/project-access.ts';
import { accessOf, authorOf, type Principal } from '../http/principal.ts';

/** A caller of the functions in this folder: the projects the caller may access, and the author for the audit log. */
export type Caller = { access: ProjectAccess; author: Author };

/** Describes the caller of a request. */
export function toCaller(principal: Principal, requestId: string): Caller {
  return { access: accessOf(principal), author: authorOf(principal, requestId) };
}
