import { proxySinks } from '@temporalio/workflow';

/** The functions of the worker's process that workflows call; calls are in no history, and are left out in a replay. */
export type RunSinks = { places: { free(callId: string): void } };

const { places } = proxySinks<RunSinks>();

/** Tells this process that a call begins to wait, for a model or for its turn, so that another run may be started. */
export function tellWaiting(callId: string): void {
  places.free(callId);
}
