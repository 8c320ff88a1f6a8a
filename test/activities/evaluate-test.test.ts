import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import type { ActivityDeps } from '../../activities/activity-deps.ts';
import { createSlots } from '../../activities/in-slot.ts';
import { createActivities } from '../../activities/index.ts';
import { RUN_TESTS } from '../../flow/test-case.ts';
import { inActivity } from './in-activity.ts';

describe('the verdict on a test case', () => {
  const tests = createSlots({ places: 1, reserve: 0 });
  const deps = { slots: { tests }, inProcessRuns: {} } as ActivityDeps;
  const { evaluateTest, readJudgement } = createActivities(deps);

  for (const activity of [evaluateTest, readJudgement])
    it(`goes back to the engine when its organization has as many under way as it may have: ${activity.name}`, async () => {
      const endSlot = tests.takeNow('acme');
      const context = {
        info: {
          attempt: 1,
          isLocal: false,
          workflowType: RUN_TESTS,
          workflowExecution: { workflowId: randomUUID() },
          activityType: activity.name,
          priority: { fairnessKey: 'acme' },
        },
        cancellationSignal: new AbortController().signal,
        heartbeat: () => undefined,
      };
      await assert.rejects(
        inActivity(context, () => activity(randomUUID())),
        (error) =>
          error instanceof ApplicationFailure && error.type === 'WAITS_FOR_SLOT' && !error.nonRetryable,
      );
      endSlot?.();
    });
});
