// A worker whose model calls are parked as often as a test wants, and then return their input.

import { ApplicationFailure } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import type { ActivityDeps } from '../activities/activity-deps.ts';
import { createSlots } from '../activities/attempts/in-slot.ts';
import type { createBlockExecutor } from '../activities/block-executor.ts';
import { createInProcessRuns } from '../activities/in-process-runs.ts';
import { createActivities } from '../activities/index.ts';
import { createFlowDefinitions } from '../db/flows/flow-definitions.ts';
import { type BlockCall, PARKED } from '../flow/run.ts';
import { createValidator } from '../platform/json-schema/validator.ts';
import { createLargeValues } from '../platform/large-values/large-values.ts';
import { createOwnerLimit } from '../platform/limits/owner-limit.ts';
import { connectToTemporal } from '../temporal/connect.ts';
import { createDataConverter } from '../temporal/data-converter.ts';
import { encodeFailures } from '../worker/queue-worker.ts';
import { registerSearchAttributes } from '../worker/register-search-attributes.ts';
import { createRunSinks } from '../worker/run-sinks.ts';
import type { Weir } from './harness.ts';
import { testWorkflowBundle } from './workflow-bundle.ts';

const SLOTS = { places: 100, reserve: 0 };

/** Starts the worker, which parks each block `parks` times and keeps so many runs in memory. The caller stops it. */
export async function startParkingWorker(
  { config, db }: Pick<Weir, 'config' | 'db'>,
  parks: number,
  kept = 40,
): Promise<{ stop(): Promise<void> }> {
  // Passthrough blocks need no other dependencies.
  const deps: Parameters<typeof createBlockExecutor>[0] & Pick<ActivityDeps, 'slots'> = {
    slots: {
      models: createSlots(SLOTS),
      blocks: createSlots(SLOTS),
      testStarts: createSlots(SLOTS),
      verdicts: createSlots(SLOTS),
    },
    db,
    validator: createValidator(),
    definitions: createFlowDefinitions(db),
    balanceLimit: createOwnerLimit(1),
    inProcessRuns: createInProcessRuns(),
    largeValues: createLargeValues(),
  };
  const activities = createActivities(deps as ActivityDeps);
  const parked = new Map<string, number>();
  const connection = await connectToTemporal(config);
  await registerSearchAttributes(connection, config.temporal.namespace);
  const worker = await Worker.create({
    connection,
    dataConverter: createDataConverter(config),
    taskQueue: config.taskQueue,
    workflowBundle: await encodeFailures(config, await testWorkflowBundle()),
    sinks: createRunSinks(deps.inProcessRuns),
    maxCachedWorkflows: kept,
    maxConcurrentWorkflowTaskExecutions: kept,
    activities: {
      ...activities,
      async callModel(call: BlockCall) {
        const key = `${call.executionId}/${call.blockKey}`;
        const before = parked.get(key) ?? 0;
        parked.set(key, before + 1);
        if (before < parks)
          throw ApplicationFailure.nonRetryable('The worker was lost during 12 attempts.', PARKED);
        return activities.passThrough(call);
      },
    },
  });
  const running = worker.run();
  return {
    async stop() {
      worker.shutdown();
      await running;
      await connection.close();
    },
  };
}
