// Request and response schemas of flows, their drafts and versions.
import { z } from 'zod';
import { RUN_STATUSES } from '../../db/schema.ts';
import { pageOf } from '../http/page-schema.ts';
import { descriptionSchema, flowFileSchema, nameSchema, slugSchema } from './written-flow.ts';

const time = z.iso.datetime();
const version = z.int().min(1);

export const draftProblems = z
  .array(z.strictObject({ path: z.string(), message: z.string() }))
  .meta({ description: 'What must be changed before the draft can be published.' });

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
      .object({ executionId: z.uuid(), status: z.enum(RUN_STATUSES), startedAt: time })
      .nullable()
      .meta({ description: 'The run of any version or of the draft that began last.' }),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'Flow' });
export const flowList = pageOf('FlowList', 'flows', flowRecord);

export const draftRequest = flowFileSchema
  .pick({ steps: true })
  .meta({ id: 'ReplaceDraft', description: 'The steps of a flow, as in a flow file.' });

/** The header of an answer that shows a draft. */
export const etagHeader = {
  ETag: z.string().optional().meta({ description: 'Names the steps that the draft has now.' }),
};

/** The steps of a flow as they are stored. */
export const storedSteps = z
  .array(z.looseObject({ step_id: z.string(), name: z.string(), type: z.string() }))
  .meta({ description: 'The tree of steps, as in a flow file, with every step_id and name.' });
export const draftRecord = z
  .object({
    steps: storedSteps,
    problems: draftProblems,
    notes: z.array(z.string()).meta({
      description:
        'Blocks whose model has no key here. It can change while the ETag stays: keys are not part of a draft.',
    }),
  })
  .meta({ id: 'Draft' });
