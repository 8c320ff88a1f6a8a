import type { Author } from '../../db/tenants/audit-entries.ts';
import type { ProjectAccess } from '../../db/tenants/project-access.ts';
import type { ApiState } from '../http/context.ts';
import { accessOf, authorOf } from '../http/principal.ts';

/**
 * The caller of an operation on a flow: the projects they may access, the author for the audit log, and, where they
 * were authorized for a project, the function that authorizes them again before a write (`requireLockedFlow`).
 */
export type Caller = { access: ProjectAccess; author: Author } & Pick<ApiState, 'authorizeAgain'>;

/** Describes the caller of a request. */
export function toCaller(state: Pick<ApiState, 'principal' | 'requestId' | 'authorizeAgain'>): Caller {
  const { principal, requestId, authorizeAgain } = state;
  return {
    access: accessOf(principal),
    author: authorOf(principal, requestId),
    ...(authorizeAgain && { authorizeAgain }),
  };
}
