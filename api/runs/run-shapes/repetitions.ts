// The version in which a run is run again, and the step with which it then begins (docs/retry-and-fork.md).
import { z } from 'zod';
import type { Step } from '../../../flow/definition.ts';
import { findChanges } from '../../../flow/find-changes.ts';
import { VERSION_MAX } from '../../../flow/limits.ts';
import { jobAccepted, runState } from './answers.ts';

export type Repetition = 'rerun' | 'retry';

/** The version in which a run is run again: the run's own, the production version, or a published one. */
export const versionChoice = z
  .union([z.enum(['original', 'production']), z.int().min(1).max(VERSION_MAX)], {
    error: 'must be "original", "production" or the number of a published version',
  })
  .default('original');
export type VersionChoice = z.output<typeof versionChoice>;

export const describedChoice = versionChoice.meta({
  description:
    '`original`: the version of the run; `production`: the production version; or the number of a published version.',
  override: { default: 'original' },
});

export const repeatRequest = z.strictObject({ version: describedChoice }).meta({ id: 'RepeatRequest' });

export const beginsAt = z.object({ step_id: z.string(), reason: z.string() }).nullable().meta({
  description: 'The first step of the new run, and why it is the first; null in a flow without steps.',
});

/** The fields about a repetition that the answers for one and for many runs have. */
export const repeated = { repeats: z.uuid(), version: runState.shape.version, beginsAt };

export const repeatAccepted = jobAccepted.extend(repeated).meta({ id: 'RepeatAccepted' });

/** Returns the version in which a run of the version `original` is run again. */
export function toVersion(choice: VersionChoice, original: number): number | 'production' {
  return choice === 'original' ? original : choice;
}

type Version = { version: number; steps: Step[] };

/** Returns the number of the first steps that two versions have in common, except for names, which only people read. */
export function countCommonSteps(before: Step[], after: Step[]): number {
  const changed = after.findIndex((step, index) =>
    findChanges({ steps: before.slice(index, index + 1) }, { steps: [step] }).some(
      ({ field }) => field !== 'name',
    ),
  );
  return changed < 0 ? after.length : changed;
}

/** Describes an accepted repetition of a run. */
export async function describeRepetition(
  { definitions }: { definitions: { get(flowVersionId: string): Promise<{ steps: Step[] }> } },
  how: Repetition,
  run: { execution_id: string; version: number; flow_version_id: string },
  { version, definition, from }: { version: number; definition: { steps: Step[] }; from: number | null },
) {
  const before = { version: run.version, ...(await definitions.get(run.flow_version_id)) };
  const beginsAt = describeBeginning(how, from ?? 0, before, { version, ...definition });
  return { repeats: run.execution_id, version, beginsAt };
}

/** Describes the step at `from`, with which the repetition in the version `after` of a run of `before` begins. */
function describeBeginning(
  how: Repetition,
  from: number,
  before: Version,
  after: Version,
): z.output<typeof beginsAt> {
  const step = after.steps[from];
  return step ? { step_id: step.step_id, reason: reasonFor(how, from, before, after) } : null;
}

function reasonFor(how: Repetition, from: number, before: Version, after: Version): string {
  if (how === 'rerun') return 'A rerun begins with the first step.';
  const common = countCommonSteps(before.steps, after.steps);
  if (from === common)
    return `Version ${after.version} differs from version ${before.version}, which ran before, from this step on: later outputs of that run are not used.`;
  if (common === after.steps.length && common < before.steps.length && from === common - 1)
    return `Version ${after.version} ends with this step: version ${before.version}, which ran before, has more.`;
  return 'The run has not completed this step.';
}
