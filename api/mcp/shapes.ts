// Shapes that several tools share.
import { z } from 'zod';
import type { FlowDefinition, Step } from '../../flow/definition.ts';

const id = z.guid();
export const projectId = id.meta({ description: 'project_id of list_projects.' });
export const flowId = id.meta({ description: 'flow_id of hydrate_project or create_flow.' });
export const versionId = id.meta({
  description: 'version_id of publish_version or get_flow; not the number.',
});
export const stepId = z
  .string()
  .min(1)
  .max(64)
  .meta({ description: 'step_id of a step of the draft, as the answers list them.' });

/** A slug, or slugs joined by a slash. */
export const after = z
  .string()
  .max(200)
  .regex(/^[a-z0-9/-]*$/, 'is no next of this list')
  .optional()
  .meta({ description: 'next of the page before, when there was one.' });

export const problems = z
  .array(z.strictObject({ path: z.string(), message: z.string() }))
  .meta({ description: 'What the draft lacks before it can be published.' });

/** Where a new or moved step goes. */
export const placeFields = {
  target_id: stepId.optional().meta({
    description: 'step_id of the step that `direction` is about. Without it: at the end of the flow.',
  }),
  direction: z.enum(['right', 'bottom']).default('right').meta({
    description:
      'right: after the target, in the same sequence. bottom: parallel to the target, which becomes a branch of a parallel step (one more branch where it is in one alone); what follows then gets an object with the output of each branch under its name.',
  }),
};

/** A step without what it holds: enough to see the flow's shape. */
export const stepOutline = z.strictObject({
  step_id: z.string(),
  name: z.string(),
  type: z.enum(['llm', 'passthrough', 'code', 'parallel', 'loop']),
  inside: z.string().nullable().meta({ description: 'step_id of the parallel or loop step around it.' }),
  branch: z.string().nullable().meta({ description: 'The branch of that parallel step.' }),
});

/** The steps in the order they run in, what is inside a step after it. */
export function outlineOf({ steps }: FlowDefinition): z.infer<typeof stepOutline>[] {
  return outlineSteps(steps, null, null);
}

function outlineSteps(steps: Step[], inside: string | null, branch: string | null) {
  return steps.flatMap((step): z.infer<typeof stepOutline>[] => {
    const { step_id, name } = step;
    const type = step.type === 'sequential' ? step.processor_type : step.type;
    const outline = { step_id, name, type, inside, branch };
    if (step.type === 'sequential') return [outline];
    if (step.type === 'loop') return [outline, ...outlineSteps(step.body, step_id, null)];
    const branches = Object.entries(step.branches);
    return [outline, ...branches.flatMap(([name, inner]) => outlineSteps(inner, step_id, name))];
  });
}
