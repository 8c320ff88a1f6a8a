// Query and response schemas of usage.
import { z } from 'zod';
import { problem, validationError } from '../http/json-body.ts';
import { fullPageLimit, pageOf } from '../http/page.ts';
import { tokens } from '../runs/run-shapes/block-answers.ts';
import { usageDay, usageDimension } from './usage-fields.ts';

const DAYS_DEFAULT = 30;
export const DAYS_MAX = 366;

const DAY_MS = 24 * 60 * 60 * 1_000;

export const projectUsageQuery = z.strictObject({
  from: usageDay.optional().meta({
    description: `The first day (UTC); ${DAYS_DEFAULT - 1} days before \`to\` if left out, and at most a year.`,
  }),
  to: usageDay.optional().meta({ description: 'The last day (UTC), which is included; today if left out.' }),
  by: usageDimension
    .default('day')
    .meta({ description: 'Days are sorted by date, all other groups by credits, highest first.' }),
  flow_id: z.uuid().optional().meta({ description: 'Only usage of this flow.' }),
  limit: fullPageLimit,
  cursor: z
    .string()
    .regex(/^\d{1,9}$/, 'must be nextCursor of the previous page')
    .optional()
    .meta({ description: '`nextCursor` of the previous page.' }),
});
export const organizationUsageQuery = projectUsageQuery.extend({
  project_id: z.uuid().optional().meta({ description: 'Only usage of this project.' }),
});
export type UsageQuery = z.output<typeof organizationUsageQuery>;

const latency = z
  .object({ p50: z.int(), p95: z.int(), p99: z.int() })
  .nullable()
  .meta({ description: 'In milliseconds, to within 10 %; null where none was measured.' });
const whole = z.int().min(0);

const sums = {
  credits: z.number(),
  modelCalls: whole.meta({ description: 'Executions of llm blocks.' }),
  failedModelCalls: whole,
  ...tokens,
  modelLatencyMs: latency,
  runs: whole.nullable().meta({ description: 'Runs that have ended; null for a model.' }),
  failedRuns: whole.nullable(),
  cancelledRuns: whole.nullable(),
  refusedRuns: whole.nullable().meta({ description: 'Runs that a provider or its model refused.' }),
  runLatencyMs: latency.meta({
    description:
      'From acceptance to end, of runs that never waited for their caller. In milliseconds, to within 10 %; null where none was measured.',
  }),
  refused: whole.nullable().meta({
    description: 'Requests that were answered 429; null for a flow, a version and a model.',
  }),
};

const entry = z.object({
  day: z.iso.date().optional(),
  projectId: z.uuid().optional(),
  flowId: z.uuid().optional().meta({ description: 'By flow and version.' }),
  version: whole.optional().meta({ description: '0 for runs of drafts.' }),
  model: z.string().nullable().optional().meta({ description: 'null for code that costs credits.' }),
  keyId: z.string().nullable().optional().meta({
    description: 'null for users and test runs.',
  }),
  name: z.string().nullable().optional().meta({
    description: 'The slug of the project or flow, or the name of the key; null after its deletion.',
  }),
  project: z.string().nullable().optional().meta({
    description: 'By flow, version and key: the slug of the project.',
  }),
  ...sums,
});

export const usageReport = z
  .object({
    from: z.iso.date(),
    to: z.iso.date(),
    by: usageDimension,
    total: z.object(sums).meta({ description: 'The sum over all entries of all pages.' }),
    ...pageOf('UsagePage', 'entries', entry).shape,
  })
  .meta({ id: 'UsageReport' });

/** Returns the first and last day of a usage query, both included. Throws VALIDATION_ERROR. */
export function usageDays({
  from,
  to = dayOf(Date.now()),
}: {
  from?: string | undefined;
  to?: string | undefined;
}) {
  const first = from ?? dayOf(Date.parse(to) - (DAYS_DEFAULT - 1) * DAY_MS);
  if (first > to) throw validationError(problem(['from'], 'must not be after to'));
  if (Date.parse(to) - Date.parse(first) >= DAYS_MAX * DAY_MS)
    throw validationError(problem(['from'], `must be less than ${DAYS_MAX} days before to`));
  return { from: first, to };
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
