// The contract between the API, which starts runs, and the workflow and activities, which carry them out.
import type { ErrorCode } from './errors.ts';
import type { PlannedStep } from './plan.ts';
import type { PausePoint } from './tool-calls.ts';
import type { Value } from './value.ts';

// Images given to a run by URL (docs/attachments.md). Their bytes are never fetched or kept.
export const IMAGE_MIME_TYPES = ['image/jpeg', 'image/png', 'image/webp', 'image/gif'] as const;

export type ImageMimeType = (typeof IMAGE_MIME_TYPES)[number];

/** An image whose URL was checked and is kept as sent. By the time a model fetches it, the host may have another address. */
export type Attachment = { kind: 'url'; url: string; mime_type: ImageMimeType; filename: string };

/** Name of the workflow type; renaming it breaks every run under way. */
export const RUN_FLOW = 'runFlow';

/**
 * Argument of `runFlow`: the steps to run. `executionId`: the id of the call, under its name in histories. `input`: the input
 * of the first step; the run's message when absent. `continues`: the call resumes a run, or is part of a step-through session.
 * `callback`: the end of the run may have a delivery. Only the first call of a run has a callback, so its id is the run's id.
 */
export type RunInput = {
  executionId: string;
  steps: PlannedStep[];
  input?: Value;
  continues?: true;
  callback?: true;
};

/** Names a call: `executionId` is the run's id, `callId` the call's own, the same for the call that a run begins with. */
export type CallIds = { executionId: string; callId: string };

/** Returns a call's workflow id. It begins with the executionId, so that operators find the calls of a run together. */
export function workflowIdOf({ executionId, callId }: CallIds): string {
  return callId === executionId ? executionId : `${executionId}/${callId}`;
}

/** Argument of a block activity. `executionId`, so named in histories, is the call's id. */
export type BlockCall = {
  executionId: string;
  stepId: string;
  blockKey: string;
  input: Value;
  /** Whether the output is the run's result: then the end of the run is recorded with it in one write. */
  ends: boolean;
};

/** The `failureReason` that callers read (docs/webhooks.md). */
export type FailureReason = 'error' | 'credits_exhausted' | 'byok_rejected';

/**
 * Why a run failed. `step_id` names the block or step, where there is one, and `iterations` the
 * iteration of each loop around it, outermost first, from 0.
 */
export type RunError = {
  code: ErrorCode;
  message: string;
  reason: FailureReason;
  step_id?: string;
  iterations?: number[];
};

/** How a run ended, as recorded in its row. */
export type RunOutcome =
  | { status: 'completed'; result: Value }
  | { status: 'tool_calls_required'; pause: PausePoint }
  | { status: 'failed'; error: RunError };

/** The end of a run that was stopped: by its caller, by an operator, or because its project was deleted. */
export const CANCELLED = {
  code: 'CANCELLED',
  message: 'The run was cancelled.',
  reason: 'error',
} as const;

/** The failure of a block of a run that has ended: only a reset of the run's workflow brings one. */
export const ENDED = {
  code: 'CONFLICT',
  message:
    'The run has ended, and a reset of its workflow runs no block of it again. Fork it instead: GET …/jobs/{executionId}/fork answers the request that goes on from a step.',
} as const;

/** Custom search attributes of a run in Temporal: name → type. */
export const SEARCH_ATTRIBUTES = {
  WeirOrganization: 'KEYWORD',
  WeirProject: 'KEYWORD',
  WeirFlow: 'KEYWORD',
  WeirVersion: 'INT',
  WeirMode: 'KEYWORD',
  WeirEnvironment: 'KEYWORD',
  WeirOutcome: 'KEYWORD',
} as const;
