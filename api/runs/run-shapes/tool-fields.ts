// The tools of a request (docs/tool-calls.md). Commands load this file, so it loads nothing of a server.
import { z } from 'zod';
import {
  TOOL_DESCRIPTION_MAX_LENGTH,
  TOOL_NAME_PATTERN,
  TOOL_PARAMETERS_MAX_BYTES,
  TOOLS_MAX,
  TOOLS_MAX_BYTES,
} from '../../../flow/limits.ts';
import { weigh } from '../../../platform/json-text/measure-json.ts';
import { parsedObject } from '../../flows/written-flow.ts';

const name = z
  .string()
  .regex(
    TOOL_NAME_PATTERN,
    'must be 1 to 64 letters, digits, hyphens and underscores, and begin with a letter or an underscore',
  );

const tool = z
  .strictObject({
    type: z.literal('function'),
    function: z.strictObject({
      name,
      description: z.string().max(TOOL_DESCRIPTION_MAX_LENGTH).optional(),
      parameters: parsedObject
        .refine((schema) => bytesOf(schema) <= TOOL_PARAMETERS_MAX_BYTES, {
          error: `must have at most ${TOOL_PARAMETERS_MAX_BYTES} bytes`,
        })
        .optional()
        .meta({ description: 'A JSON Schema.' }),
      strict: z.boolean().nullish(),
    }),
  })
  .meta({ id: 'Tool', description: 'A function of the caller that models may call.' });

/** The fields of every request that may have tools. */
export const toolFields = {
  tools: z
    .array(tool)
    .max(TOOLS_MAX)
    .refine((tools) => weigh(JSON.stringify(tools)) <= TOOLS_MAX_BYTES, {
      error: `must have at most ${TOOLS_MAX_BYTES} bytes together; many values count as more`,
    })
    .superRefine((tools, ctx) => {
      const names = tools.map((each) => each.function.name);
      for (const [index, each] of names.entries())
        if (names.indexOf(each) < index)
          ctx.addIssue({
            code: 'custom',
            path: [index, 'function', 'name'],
            message: `${each} is defined twice`,
          });
    })
    .optional()
    .meta({ description: 'Send them again, unchanged, on every call that should have them.' }),
  toolChoice: z
    .union(
      [
        z.enum(['auto', 'none', 'required']),
        z.strictObject({ type: z.literal('function'), function: z.strictObject({ name: z.string() }) }),
      ],
      { error: 'must be auto, none, required or {type: function, function: {name}}' },
    )
    .optional()
    .meta({ description: '`auto` when absent.' }),
};

function bytesOf(json: unknown): number {
  return Buffer.byteLength(JSON.stringify(json));
}
