// A tool of the MCP endpoint: its description for assistants, the function that does it, and the schemas that tools
// share.
import { z } from 'zod';
import { type FlowDefinition, PROCESSOR_TYPES, type Step } from '../../flow/definition.ts';
import type { Caller } from '../auth/caller.ts';
import type { McpScope } from '../auth/scopes.ts';
import type { ApiDeps } from '../deps.ts';
import type { UserPrincipal } from '../http/principal.ts';

const id = z.guid();
export const projectId = id.meta({ description: 'project_id from list_projects.' });

export const flowId = id.meta({ description: 'flow_id from hydrate_project.' });

export const versionId = id.meta({
  description: 'version_id from publish_version or get_flow, not a number.',
});

export const stepId = z.string().min(1).max(64).meta({ description: 'A step of the draft.' });

/** A slug, or slugs joined by a slash. */
export const after = z
  .string()
  .max(200)
  .regex(/^[a-z0-9/-]*$/, 'must be the `next` of an earlier page of this list')
  .optional()
  .meta({ description: 'next of the previous page.' });

/** The position of a new or moved step. */
export const placeFields = {
  target_id: stepId.optional().meta({
    description:
      'The step_id of the step beside it. Without it: at the end of the flow, or with left at its beginning.',
  }),
  direction: z.enum(['right', 'left', 'bottom']).default('right').meta({
    description:
      'right: after the target, in the same sequence. left: before it. bottom: parallel to it, as a branch of a new parallel step, or of the one in which the target is alone in a branch.',
  }),
};

/** A step without its contents, to show the shape of the flow. */
export const stepOutline = z.strictObject({
  step_id: z.string(),
  name: z.string(),
  type: z.enum([...PROCESSOR_TYPES, 'parallel', 'loop']),
  inside: z.string().nullable().meta({ description: 'The step_id of the parallel or loop step around it.' }),
  branch: z.string().nullable().meta({ description: 'The branch of that parallel step.' }),
});

/** Reads the number of a version that is written as text. Other values stay as they are. */
export function toVersionNumber(version: unknown): unknown {
  return typeof version === 'string' && /^\d{1,10}$/.test(version) ? Number(version) : version;
}

/** A response has the tool's output twice, as text and as JSON. */
export const COPIES = 2;

/**
 * One call of a tool: its caller and its dependencies. `gone` aborts when the client has gone; `goneOrStopping` also
 * when the process stops, so that a tool that waits for a run can describe it. `reserveAnswer` reserves memory for an
 * organization or user until the response is read; call it outside of transactions. `isMade`: the answer is in memory
 * already. Throws as `reserveBytes` does.
 */
export type McpCall = Caller & {
  deps: ApiDeps;
  user: UserPrincipal;
  gone: AbortSignal;
  goneOrStopping: AbortSignal;
  /** Releases the permit of the request, before the tool waits for a run. */
  releaseRequest(): void;
  reserveAnswer: (owner: string, bytes: number, how?: { isMade: boolean }) => Promise<void>;
};

/** MCP's tool annotations: what clients may assume about a call. */
type Hints = {
  readOnlyHint: boolean;
  /** Whether the call may lose something for good. */
  destructiveHint?: boolean;
  /** Whether repeating the call changes nothing more. */
  idempotentHint?: boolean;
  /** Whether the call reaches outside the service, for example model providers. */
  openWorldHint?: boolean;
};

/**
 * `run` gets the validated input. The assistant gets the message of a ServiceError, so that it can correct the call.
 */
export type McpTool<I extends z.ZodObject = z.ZodObject, O extends z.ZodObject = z.ZodObject> = {
  name: string;
  title: string;
  description: string;
  /** The scope that the token must have. */
  scope: McpScope;
  hints: Hints;
  input: I;
  output: O;
  run(call: McpCall, input: z.output<I>): Promise<z.input<O>>;
};

/** Defines a tool whose `run` is typed by its input and output schemas. */
export function defineTool<I extends z.ZodObject, O extends z.ZodObject>(tool: McpTool<I, O>): McpTool {
  return tool as unknown as McpTool;
}

/** Lists the steps in running order, each followed by the steps inside it. */
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
