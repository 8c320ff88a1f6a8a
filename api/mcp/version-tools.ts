// publish_version and set_production_version
import { z } from 'zod';
import { findVersionById, getVersion } from '../../db/flows/flows.ts';
import { ServiceError } from '../../flow/errors.ts';
import { promoteFlow, publishFlow } from '../flows/publish-flow.ts';
import { textSchema } from '../flows/written-flow.ts';
import { requireComplete } from './find-draft-problems.ts';
import { withLockedFlow } from './require-flow-design.ts';
import { flowId, versionId } from './shapes.ts';
import { defineTool } from './tool.ts';

const NOTE_MAX_LENGTH = 2_000;

const publish = defineTool({
  name: 'publish_version',
  title: 'Publish the draft',
  description:
    'Publishes the draft as a version that never changes. Callers run it only after set_production_version.',
  scope: 'flows:publish',
  hints: { readOnlyHint: false, destructiveHint: false },
  input: z.strictObject({
    flow_id: flowId,
    note: textSchema.max(NOTE_MAX_LENGTH).meta({ description: 'What changed, for people to read.' }),
  }),
  output: z.strictObject({ flow_id: z.string(), version_id: z.string(), version: z.int() }),
  async run(call, { flow_id, note }) {
    const published = await withLockedFlow(call, flow_id, async (tx, flow) => {
      requireComplete(flow.draft);
      return getVersion(tx, flow_id, await publishFlow(tx, call.author, flow, note));
    });
    return { flow_id, version_id: published.id, version: published.version };
  },
});

const setProduction = defineTool({
  name: 'set_production_version',
  title: 'Set the production version',
  description:
    'Callers who do not name a version run this one from now on. An earlier version can be set again.',
  scope: 'flows:publish',
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  input: z.strictObject({ flow_id: flowId, version_id: versionId }),
  output: z.strictObject({
    flow_id: z.string(),
    version_id: z.string(),
    version: z.int(),
    previous_version: z.int().nullable().meta({ description: 'The version that callers ran before.' }),
  }),
  async run(call, { flow_id, version_id }) {
    const { version, previous } = await withLockedFlow(call, flow_id, async (tx, flow) => {
      const found = await findVersionById(tx, flow_id, version_id);
      if (!found)
        throw new ServiceError(
          'NOT_FOUND',
          'The flow has no such version: get_flow lists its versions with their ids.',
        );
      await promoteFlow(tx, call.author, flow, found.version);
      return { version: found.version, previous: flow.production_version };
    });
    return { flow_id, version_id, version, previous_version: previous };
  },
});

export const versionTools = [publish, setProduction];
