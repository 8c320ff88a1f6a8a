import { ApplicationFailure } from '@temporalio/activity';

const ANOTHER_WORKER_MS = 100;

/** Makes the failure of an activity that another worker is to carry out, because this one stops. */
export function workerShutdown(message: string): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'WORKER_SHUTDOWN',
    message,
    nextRetryDelay: ANOTHER_WORKER_MS,
  });
}
