import type { FollowOptions } from '../../api/follow-options.ts';
import type { components } from '../../api/schema.d.ts';
import type { PlanStep } from './try-run.ts';

type Schemas = components['schemas'];

/** The requests of the service for the runs of one flow; version 0 is the draft. */
export type TryServer = {
  /** Starts a job, for the draft with this ETag. Returns its executionId. */
  startJob(version: number, request: object, etag: string): Promise<string>;
  /** Reads the state of a run, with result and receipt. */
  readJob(executionId: string): Promise<Schemas['JobState']>;
  /** Cancels a run. Costs so far stay charged. */
  cancelJob(executionId: string): Promise<void>;
  /** Reads the request with which a session continues a stored run from a step. */
  readFork(executionId: string, step: number): Promise<Schemas['StepCursor']>;
  /** Reads the top-level steps of a stored run. */
  readPlan(executionId: string): Promise<PlanStep[]>;
  followJob(executionId: string, options: FollowOptions): Promise<void>;
  /** Sends one call of a session and follows its events. */
  followStep(version: number, body: object, options: FollowOptions): Promise<void>;
};
