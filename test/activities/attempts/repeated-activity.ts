import assert from 'node:assert/strict';
import { ApplicationFailure } from '@temporalio/activity';
import type { Progress } from '../../../activities/attempts/attempt-progress.ts';
import { type Attempt, runAttempt } from '../../../activities/attempts/run-attempt.ts';
import { inActivity } from '../in-activity.ts';

export type Work = (attempt: Attempt) => Promise<unknown>;

/** An activity as the engine would repeat it: each attempt gets what the one before left in its heartbeats. */
export class Activity {
  attempts = 0;
  readonly isLocal: boolean;
  details: Progress | undefined;
  readonly stop = new AbortController();

  constructor({ isLocal = false } = {}) {
    this.isLocal = isLocal;
  }

  /** One attempt; answers what it failed with. */
  async attempt(work: Work, options?: Parameters<typeof runAttempt>[1]): Promise<ApplicationFailure> {
    this.attempts += 1;
    const info = {
      attempt: this.attempts,
      isLocal: this.isLocal,
      heartbeatDetails: this.details,
      workflowExecution: { workflowId: 'run-1' },
      activityType: 'callModel',
    };
    const context = {
      info,
      cancellationSignal: this.stop.signal,
      heartbeat: (left: Progress) => this.leave(left),
    };
    const failed = await inActivity(context, () =>
      runAttempt(work, options).then(
        () => assert.fail('the attempt did not fail'),
        (error: unknown) => error,
      ),
    );
    assert.ok(failed instanceof ApplicationFailure, String(failed));
    return failed;
  }
  /** One that its worker died under. */
  lose(): void {
    this.attempts += 1;
  }
  private leave(left: Progress): void {
    this.details = structuredClone(left);
  }
}
