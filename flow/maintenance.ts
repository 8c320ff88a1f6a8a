// Maintenance: jobs of Temporal Schedules that delete what is old, add up and measure. Each has a workflow type and an activity
// of one name.

export const SCHEDULED_JOBS = [
  'countUsage',
  'releaseReservations',
  'measureBacklog',
  'deleteOldRuns',
  'deleteDefinitions',
  'deleteStoredObjects',
  'deleteExpiredKeys',
] as const;
export type ScheduledJob = (typeof SCHEDULED_JOBS)[number];

/** The parts of each round of the reconciler. */
export const RECONCILERS = [
  'reconcileRuns',
  'reconcileTestRuns',
  'reconcileDeliveries',
  'cancelWorkOfDeletedProjects',
] as const;

/** Returns the task queue of maintenance, whose activities take no room of runs. */
export function maintenanceTaskQueue(taskQueue: string): string {
  return `${taskQueue}-maintenance`;
}
