import { RECONCILERS, SCHEDULED_JOBS } from '../../../flow/maintenance.ts';
import { counter, gauge, histogram } from './instruments.ts';

export const sandboxProcesses = gauge({
  name: 'weir.sandbox.processes',
  unit: '{process}',
  description: 'Sandbox processes.',
  labels: ['state'],
});

export const sandboxDuration = histogram({
  name: 'weir.sandbox.execution.duration',
  unit: 's',
  description: 'Time that a run of user code took in its sandbox process.',
  labels: ['result'],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
});

export const sandboxTimeouts = counter({
  name: 'weir.sandbox.timeouts',
  unit: '{block}',
  description: 'Runs of user code that were ended at their time limit.',
  zeros: [{}],
});

export const backlog = gauge({
  name: 'weir.task_queue.backlog',
  unit: '{task}',
  description: 'Tasks that wait in the engine for a worker.',
  labels: ['queue'],
});

export const backlogAge = gauge({
  name: 'weir.task_queue.backlog_age',
  unit: 's',
  description: 'Age of the task that has waited longest in the engine for a worker.',
  labels: ['queue'],
});

export const runsInFlight = gauge({
  name: 'weir.run.in_flight',
  unit: '{call}',
  description: 'Calls that were accepted and have not ended, those that wait for a worker included.',
});

export const databaseSize = gauge({
  name: 'weir.database.size',
  unit: 'By',
  description: 'Bytes of all databases of the PostgreSQL server, without its write-ahead log.',
});

export const databaseDisk = gauge({
  name: 'weir.database.disk',
  unit: 'By',
  description: 'Bytes of the disk of PostgreSQL, as WEIR_DATABASE_DISK_GB has it.',
});

export const runsCrashLooping = gauge({
  name: 'weir.run.crash_looping',
  unit: '{run}',
  description: 'Runs whose workers are lost again and again under one block or workflow task.',
});

export const failingWorkflows = gauge({
  name: 'weir.workflow_task.failing',
  unit: '{workflow}',
  description: 'Workflows that stand still because their workflow task fails again and again.',
});

export const reconcilerFindings = counter({
  name: 'weir.reconciler.findings',
  unit: '{finding}',
  description:
    'Runs, test runs and deliveries that the reconciler repaired: their workflow was missing or had ended.',
  labels: ['kind'],
  zeros: [{ kind: 'run' }, { kind: 'test_run' }, { kind: 'delivery' }],
});

const JOBS = [...SCHEDULED_JOBS, ...RECONCILERS].map((name) => ({ name }));

export const jobCompletions = counter({
  name: 'weir.scheduled_job.completions',
  unit: '{completion}',
  description: 'Completed scheduled jobs, and rounds of the reconcilers.',
  labels: ['name'],
  zeros: JOBS,
});

export const jobFailures = counter({
  name: 'weir.scheduled_job.failures',
  unit: '{failure}',
  description: 'Failed attempts at scheduled jobs, and failed rounds of the reconcilers; they are repeated.',
  labels: ['name'],
  zeros: JOBS,
});
