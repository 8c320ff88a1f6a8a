// The requests by which a run is tried, as the store of the try needs them.
import type { FollowOptions } from '../../api/follow-options.ts';
import type { components } from '../../api/schema.d.ts';
import type { PlanStep } from './try-run.ts';

type Schemas = components['schemas'];

/** The service, for the runs of one flow; version 0 is its draft. */
export type TryServer = {
  /** Starts a whole run, of the draft that has this ETag; answers its executionId. */
  startJob(version: number, request: object, etag: string): Promise<string>;
  /** Reads how a run stands, with its result and receipt. */
  readJob(executionId: string): Promise<Schemas['JobState']>;
  /** Cancels a run; what it has cost stays charged. */
  cancelJob(executionId: string): Promise<void>;
  /** Asks for the request with which a session goes on with a stored run at a step. */
  readFork(executionId: string, step: number): Promise<Schemas['StepCursor']>;
  /** Reads the steps that a stored run runs. */
  readPlan(executionId: string): Promise<PlanStep[]>;
  /** Follows the events of a run. */
  followJob(executionId: string, options: FollowOptions): Promise<void>;
  /** Sends one call of a session and follows its events. */
  followStep(version: number, body: object, options: FollowOptions): Promise<void>;
};
