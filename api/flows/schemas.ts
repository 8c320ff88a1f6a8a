import { z } from 'zod';
import { RUN_OUTCOMES, RUN_STATUSES } from '../../db/schema.ts';
import { VERSION_MAX } from '../../flow/limits.ts';
import { errorCode } from '../http/headers.ts';
import { pageOf } from '../http/page.ts';
import {
  descriptionSchema,
  flowFileSchema,
  nameSchema,
  parsedJson,
  slugSchema,
  stepsSchema,
  textSchema,
} from './written-flow.ts';

const NOTE_MAX_LENGTH = 2_000;

const time = z.iso.datetime();
const version = z.int().min(1).max(VERSION_MAX);

/** A problem or note with its position, for editors and assistants. */
export const placedProblem = z
  .object({
    path: z.string(),
    message: z.string(),
    step_id: z.string().nullable().meta({ description: 'The step; null where it is about the whole flow.' }),
    field: z.string().nullable().meta({ description: 'The field of the step, such as `prompt`.' }),
    line: z.int().min(1).optional().meta({ description: 'Of code: the line in that field.' }),
    column: z.int().min(1).optional(),
  })
  .meta({ id: 'DraftProblem' });

export const draftProblems = z
  .array(placedProblem)
  .meta({ description: 'What must be changed before the draft can be published.' });
export const draftNotes = z.array(placedProblem).meta({
  description: 'What works badly, such as a model without a key or code that returns nothing.',
});

export const createFlowRequest = z
  .strictObject({
    name: nameSchema,
    slug: slugSchema.meta({ description: 'The last segment of the flow’s URL. It cannot be changed later.' }),
    description: descriptionSchema.default(''),
  })
  .meta({ id: 'CreateFlow' });
export const updateFlowRequest = z
  .strictObject({ name: nameSchema.optional(), description: descriptionSchema.optional() })
  .refine((fields) => Object.keys(fields).length > 0, {
    error: 'changes nothing: send name or description',
  })
  .meta({ id: 'UpdateFlow', override: { minProperties: 1 } });

export const flowRecord = z
  .object({
    id: z.uuid(),
    projectId: z.uuid(),
    slug: z.string(),
    name: z.string(),
    description: z.string(),
    productionVersion: version.nullable().meta({ description: 'The version that callers run.' }),
    latestVersion: version.nullable().meta({ description: 'null before the first one is published.' }),
    draftIsProduction: z.boolean().meta({ description: 'Whether the draft equals the production version.' }),
    draftIsPublished: z.boolean().meta({ description: 'Whether the draft equals the latest version.' }),
    lastRun: z
      .object({
        executionId: z.uuid(),
        status: z.enum(RUN_STATUSES),
        outcome: z.enum(RUN_OUTCOMES).optional().meta({ description: 'How the run ended.' }),
        code: errorCode.optional().meta({ description: 'On failed.' }),
        startedAt: time,
      })
      .nullable()
      .meta({ description: 'The run of any version or of the draft that began last.' }),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'Flow' });
export const flowList = pageOf('FlowList', 'flows', flowRecord);

export const draftRequest = flowFileSchema.pick({ steps: true });

const ofAnswer = z.unknown().optional().meta({ readOnly: true });
/** A draft as it was read can be written back: the fields that Weir computes are ignored. */
export const replaceDraftRequest = draftRequest
  .extend({ problems: ofAnswer, notes: ofAnswer })
  .meta({ id: 'ReplaceDraft', description: 'The steps of a flow, as in a flow file.' });

export const draftRecord = z
  .object({
    steps: stepsSchema,
    problems: draftProblems,
    notes: draftNotes,
  })
  .meta({ id: 'Draft' });

/** The note of a version. */
export const noteSchema = textSchema.max(NOTE_MAX_LENGTH);
export const publishRequest = z
  .strictObject({ note: noteSchema.default('').meta({ description: 'What changed, for people to read.' }) })
  .meta({ id: 'PublishVersion' });
export const productionRequest = z.strictObject({ version }).meta({ id: 'SetProduction' });
export const productionRecord = z
  .object({
    version,
    previousVersion: version.nullable().meta({ description: 'The version that callers ran before.' }),
  })
  .meta({ id: 'Production' });

const versionRecord = z
  .object({
    version,
    note: z.string(),
    isProduction: z.boolean().meta({ description: 'Whether callers run it.' }),
    publishedAt: time,
    publishedBy: z.string().nullable().meta({
      description: 'A user id, `api_key/` and a key id, or `operator`; null where it is not known.',
    }),
  })
  .meta({ id: 'Version' });
export const versionDetail = versionRecord
  .extend({
    steps: stepsSchema,
    notes: draftNotes.optional().meta({ description: 'Only when it is published.' }),
  })
  .meta({ id: 'VersionDetail' });
export const versionList = pageOf('VersionList', 'versions', versionRecord);

const side = z
  .string({ error: 'must be the number of a version, or draft' })
  .regex(/^(draft|[1-9]\d{0,8})$/, 'must be the number of a version, or draft');
export const differenceQuery = z.strictObject({
  from: side.meta({ description: 'The number of a version, or `draft`.' }),
  to: side.meta({ description: 'The number of a version, or `draft`.' }),
});
const value = parsedJson.optional();
export const differenceRecord = z
  .object({
    changes: z.array(
      z.object({
        step_id: z.string().nullable().meta({ description: 'null for the order of the flow’s own steps.' }),
        field: z.string().meta({
          description:
            'A field of the step. `steps`, `body` and `branches` are lists of step_ids. Empty for a step that was added or removed, whose fields are the value.',
        }),
        from: value.meta({ description: 'The value before; absent when there was none.' }),
        to: value.meta({ description: 'The value after; absent when there is none.' }),
      }),
    ),
  })
  .meta({ id: 'FlowDifference' });
