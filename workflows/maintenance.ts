// The workflow types of scheduled jobs. A Schedule starts each (worker/maintenance/keep-schedules.ts), and it ends with its one
// activity, so that its history stays short.
import type { ScheduledJob } from '../flow/maintenance.ts';
import { maintenanceActivities } from './activities.ts';

const job = (name: ScheduledJob) => (): Promise<void> => maintenanceActivities()[name]();

export const countUsage = job('countUsage');
export const releaseReservations = job('releaseReservations');
export const measureBacklog = job('measureBacklog');
export const deleteOldRuns = job('deleteOldRuns');
export const deleteDefinitions = job('deleteDefinitions');
export const deleteStoredObjects = job('deleteStoredObjects');
export const deleteExpiredKeys = job('deleteExpiredKeys');
