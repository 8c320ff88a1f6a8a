import type { RunLimits } from '../../../db/tenants/run-limits.ts';
import { ServiceError } from '../../../flow/errors.ts';

/**
 * Throws FORBIDDEN while the organization is suspended, and INSUFFICIENT_CREDITS. Called right before a call is
 * stored, so that a repeated request still gets its earlier call.
 */
export function requireMayRun(limits: Omit<RunLimits, 'runsUnderWayMax'>): void {
  if (limits.suspendedAt) throw suspended(limits.suspensionReason);
  if (limits.balanceMicrocredits <= 0) throw noCredits();
}

export function suspended(reason: string | null): ServiceError {
  const text =
    'The operator of the service has suspended the organization: it can begin and continue no runs until the operator lets it go on.';
  return new ServiceError('FORBIDDEN', reason ? `${text} The reason given: ${reason}` : text);
}

export function noCredits(): ServiceError {
  return new ServiceError(
    'INSUFFICIENT_CREDITS',
    'The organization has no credits, or none left: the operator of the service grants them, with `weir operator credits grant <organization> <credits>`.',
  );
}
