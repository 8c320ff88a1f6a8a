// The shape of flows as people write them. Rules of a tree beyond its shape are in flow/find-tree-problems.ts.
import { z } from 'zod';
import {
  type Json,
  type JsonSchema,
  type LoopStep,
  ON_LENGTH,
  OPENAI_APIS,
  type ParallelStep,
  PROCESSOR_TYPES,
  PROMPT_CACHES,
  REASONING_EFFORTS,
  type SequentialStep,
} from '../../flow/definition.ts';
import { isObject } from '../../flow/json.ts';
import {
  ANSWER_TOKENS_MAX,
  CODE_TIMEOUT_MAX_MS,
  EXAMPLE_MESSAGES_MAX,
  LOOP_ITERATIONS_DEFAULT,
  LOOP_ITERATIONS_MAX,
  MAX_TOOL_ITERATIONS_MAX,
  MODEL_RETRIES_AWAITED,
  MODEL_RETRIES_MAX,
  MODEL_TIMEOUT_DEFAULT_MS,
  MODEL_TIMEOUT_MAX_MS,
  NAME_MAX_LENGTH,
  PROMPT_MAX_BYTES,
  SLUG_MAX_LENGTH,
  SLUG_PATTERN,
  STEP_ID_PATTERN,
} from '../../flow/limits.ts';

const BRANCH_NAME_MAX_LENGTH = 64;
const DESCRIPTION_MAX_LENGTH = 2_000;

/** A value of parsed JSON. It is not validated again, which would take much time and stack for a large value. */
export const parsedJson = z.unknown().meta({ description: 'Any JSON value.' }) as z.ZodType<Json>;

/** An object of parsed JSON, whose content is not validated again for the same reason. */
export const parsedObject = z
  .unknown()
  .refine(isObject, 'must be an object')
  .meta({ type: 'object', additionalProperties: {} }) as z.ZodType<{ [key: string]: Json }>;

/** Describes steps in answers by the same schema as in requests: generated clients send back the steps they have read. */
function describeWritten({
  jsonSchema,
  zodSchema,
}: {
  jsonSchema: { required?: string[] };
  zodSchema: z.core.$ZodType;
}) {
  const { shape } = zodSchema as unknown as z.ZodObject;
  jsonSchema.required = jsonSchema.required?.filter((name) => !(shape[name] instanceof z.ZodDefault));
}

type Unnamed<S> = Omit<S, 'step_id' | 'name' | 'branches' | 'body'> & { step_id?: string; name?: string };
/** A step as written. `completeSteps` fills in what was left out. */
export type WrittenStep =
  | Unnamed<SequentialStep>
  | (Unnamed<ParallelStep> & { branches: { [branch: string]: WrittenStep[] } })
  | (Unnamed<LoopStep> & { body: WrittenStep[] });

export const slugSchema = z
  .string()
  .max(SLUG_MAX_LENGTH)
  .regex(
    SLUG_PATTERN,
    'A slug must consist of lower-case letters and digits, with single hyphens between them.',
  );
/** Text that PostgreSQL can store: anything without U+0000. */
export const textSchema = z
  .string()
  .refine((text) => !text.includes('\0'), { error: 'The character U+0000 is not accepted.' });
export const nameSchema = textSchema.min(1).max(NAME_MAX_LENGTH);
export const descriptionSchema = textSchema.max(DESCRIPTION_MAX_LENGTH);

const jsonSchema: z.ZodType<JsonSchema> = z
  .union([z.boolean(), z.record(z.string(), parsedJson)], {
    error: 'A JSON Schema must be an object or a boolean.',
  })
  .meta({ id: 'JsonSchema', description: 'A JSON Schema (2020-12).' });

const PROMPT_TOO_LARGE = { error: `A prompt must have at most ${PROMPT_MAX_BYTES} bytes.` };
const hasPromptSize = (prompt: string) => Buffer.byteLength(prompt) <= PROMPT_MAX_BYTES;
const STOPS_MAX = 4;
const stopText = textSchema.min(1).max(256);

export const processorConfig = z.strictObject({
  tools_enabled: z.boolean().optional().meta({ description: 'llm: whether the block may call tools.' }),
  max_tool_iterations: z.int().min(1).max(MAX_TOOL_ITERATIONS_MAX).optional(),
  temperature: z.number().min(0).max(2).optional().meta({ description: 'llm' }),
  max_tokens: z
    .int()
    .min(1)
    .max(ANSWER_TOKENS_MAX)
    .optional()
    .meta({ description: 'llm: the longest answer, in tokens; without it, as long as the model can.' }),
  on_length: z.enum(ON_LENGTH).optional().meta({
    description:
      'llm: an answer that was cut off at its token limit fails the block (fail, the default), or its text is the output (accept; not with an outputSchema or tools).',
  }),
  timeout_ms: z
    .int()
    .min(1)
    .max(MODEL_TIMEOUT_MAX_MS)
    .optional()
    .meta({
      description: `llm: the time of one request, when absent that of the model’s entry or ${MODEL_TIMEOUT_DEFAULT_MS}; code: processor time, at most ${CODE_TIMEOUT_MAX_MS}.`,
    }),
  max_retries: z
    .int()
    .min(0)
    .max(MODEL_RETRIES_MAX)
    .optional()
    .meta({
      description: `llm: repetitions of a refused request; when absent ${MODEL_RETRIES_MAX}, and ${MODEL_RETRIES_AWAITED} on /execute and /step.`,
    }),
  system: z.string().refine(hasPromptSize, PROMPT_TOO_LARGE).optional().meta({
    description: 'llm: a system message; it has no variables.',
  }),
  messages: z
    .array(
      z.strictObject({
        role: z.enum(['user', 'assistant']),
        content: textSchema.refine((text) => text.trim() !== '', 'A message must not be blank.'),
      }),
    )
    .min(1)
    .max(EXAMPLE_MESSAGES_MAX)
    .refine((messages) => hasPromptSize(messages.map(({ content }) => content).join('')), {
      error: `The messages must have at most ${PROMPT_MAX_BYTES} bytes together.`,
    })
    .optional()
    .meta({
      description: 'llm: turns between system and prompt, without variables.',
    }),
  top_p: z.number().min(0).max(1).optional().meta({ description: 'llm' }),
  stop: z
    .union([stopText, z.array(stopText).min(1).max(STOPS_MAX)], {
      error: `must be a text, or a list of 1 to ${STOPS_MAX} texts`,
    })
    .optional()
    .meta({ description: 'llm: texts at which the answer ends.' }),
  seed: z.int().optional().meta({ description: 'llm' }),
  reasoning_effort: z.enum(REASONING_EFFORTS).optional().meta({ description: 'llm' }),
  api: z.enum(OPENAI_APIS).optional().meta({
    description: 'llm: the API of OpenAI to call, when absent as the provider is configured.',
  }),
  prompt_cache: z.enum(PROMPT_CACHES).optional().meta({
    description:
      'llm: how long Anthropic keeps the parts of the prompt that stay the same; 5m when absent. off sends no hints to any provider.',
  }),
});

/** The fields of a block that a run may override, besides processor_config. */
export const blockFields = {
  model: textSchema.min(1).max(200).optional().meta({ description: 'llm: provider/model.' }),
  prompt: z.string().refine(hasPromptSize, PROMPT_TOO_LARGE).optional().meta({
    description:
      'llm: {{message}} and {{previous_output}} take no path, {{parameters.<key>}} and {{steps.<step_id>}} do: {{steps.list.items.0}}. code: the body of an async JavaScript function of input (the previous output), message, parameters and outputs (by step_id). It must return the output, and has no fetch, require, import, timers or files.',
  }),
  inputSchema: jsonSchema.optional(),
  outputSchema: jsonSchema.optional(),
};

/** The names of a step, both optional. */
export const stepNaming = {
  step_id: z
    .string()
    .regex(STEP_ID_PATTERN, 'A step_id must consist of 1 to 64 letters, digits, hyphens and underscores.')
    .optional()
    .meta({ description: 'Unique in the flow; derived from the name when absent.' }),
  name: nameSchema.optional().meta({ description: 'The step_id when absent.' }),
};

const sequential = z
  .strictObject({
    type: z.literal('sequential').default('sequential'),
    ...stepNaming,
    processor_type: z.enum(PROCESSOR_TYPES),
    ...blockFields,
    processor_config: processorConfig.optional(),
  })
  .meta({
    id: 'SequentialStep',
    description: 'One block; its output is the next step’s input.',
    override: describeWritten,
  });

/** The fields of a loop other than its body. */
export const loopFields = {
  max_iterations: z.int().min(1).max(LOOP_ITERATIONS_MAX).default(LOOP_ITERATIONS_DEFAULT),
  until: z
    .strictObject({
      pointer: z.string().meta({ description: 'A JSON Pointer into the output of the body.' }),
      equals: parsedJson.refine((value) => value !== undefined),
    })
    .optional()
    .meta({ description: 'When present, the body runs again on its own output until this value is equal.' }),
};

export const branchName = z.string().min(1).max(BRANCH_NAME_MAX_LENGTH);

export const stepsSchema: z.ZodType<WrittenStep[]> = z
  .array(z.lazy(() => step))
  .meta({ id: 'Steps', description: 'A list of steps, each of which may hold further ones.' });

const parallel = z
  .strictObject({
    type: z.literal('parallel'),
    ...stepNaming,
    branches: z.record(branchName, stepsSchema),
  })
  .meta({
    id: 'ParallelStep',
    description: 'Runs branches at the same time; the output is keyed by branch.',
  });

const loop = z
  .strictObject({
    type: z.literal('loop'),
    ...stepNaming,
    body: stepsSchema,
    ...loopFields,
  })
  .meta({
    id: 'LoopStep',
    override: describeWritten,
    description:
      'Runs its body for each item of its input, or `until` a condition holds; the output is the array of outputs.',
  });

const step: z.ZodType<WrittenStep> = z
  .discriminatedUnion('type', [sequential, parallel, loop], {
    error: (issue) => (issue.code === 'invalid_union' ? describeWrongType(issue.input) : undefined),
  })
  .meta({ id: 'Step' });

/** The shape of a flow file: see docs/flow-file.md. */
export const flowFileSchema = z
  .strictObject({
    $schema: z.string().optional().meta({ description: 'For editors; ignored.' }),
    name: nameSchema,
    slug: slugSchema.meta({ description: 'The last segment of the flow’s URL.' }),
    description: descriptionSchema.optional().meta({ description: 'What the flow is for.' }),
    steps: stepsSchema,
  })
  .meta({ title: 'Weir flow file' });

/** Lists the valid step types. When a step has a block's type, says where that belongs. */
function describeWrongType(step: unknown): string {
  const written = (step as { type?: unknown } | null)?.type;
  const known = PROCESSOR_TYPES.find((type) => type === written);
  return `The type must be sequential, parallel or loop${known ? `: write processor_type: ${known} for a block` : ''}.`;
}
