// Reads the input of a tool, with errors by which an assistant can correct its call.
import { z } from 'zod';
import { ServiceError } from '../../flow/errors.ts';
import { validationError } from '../http/json-body.ts';
import { describeIssue, dropNulls } from '../http/zod-input.ts';

/** Options of a parse whose problems are worded for assistants. */
export const TOOL_PARSE_OPTIONS: z.core.ParseContext<z.core.$ZodIssue> = {
  reportInput: false,
  error: sayHowToCorrect,
};

/** Parses the input of a tool. Throws VALIDATION_ERROR with every problem; `name` is that of the tool. */
export function parseToolInput<S extends z.ZodType>(schema: S, input: unknown, name: string): z.output<S> {
  dropNulls(schema, input);
  const parsed = schema.safeParse(input ?? {}, TOOL_PARSE_OPTIONS);
  if (parsed.success) return parsed.data;
  const known = parsed.error.issues
    .filter(({ code }) => code === 'unrecognized_keys')
    .map(({ path, message }) => `; ${path.join('.') || name} takes ${message}`);
  throw new ServiceError('VALIDATION_ERROR', validationError(parsed.error).message + known.join(''));
}

/** Words problems so that an assistant can correct its call: for an id, names the tool that returns such ids. */
function sayHowToCorrect(issue: z.core.$ZodRawIssue): string | undefined {
  const { code, input, inst } = issue;
  if (code === 'unrecognized_keys' && inst instanceof z.ZodObject) return Object.keys(inst.shape).join(', ');
  if (input === undefined || !(inst instanceof z.ZodGUID)) return describeIssue(issue);
  const source = z.globalRegistry.get(inst)?.description;
  return source ? `is not a valid id; send: ${source}` : 'is not a valid id';
}
