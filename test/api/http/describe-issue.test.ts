import assert from 'node:assert/strict';
import { z } from 'zod';
import { processorConfig } from '../../../api/flows/written-flow.ts';
import { PARSE_OPTIONS, validationError } from '../../../api/http/json-body.ts';

const of = (schema: z.ZodType, value: unknown) =>
  validationError(z.strictObject({ field: schema }).safeParse(value, PARSE_OPTIONS).error as z.ZodError)
    .message;

describe('the 422 of a request', () => {
  const type = z.discriminatedUnion('type', [
    z.object({ type: z.literal('a') }),
    z.object({ type: z.literal('b') }),
  ]);
  const worded: [schema: z.ZodType, value: unknown, message: string][] = [
    [z.string(), [], 'body: must be a JSON object'],
    [z.string(), {}, 'field: is required'],
    [z.string(), { field: 1 }, 'field: must be text'],
    [z.string().min(1), { field: '' }, 'field: must not be empty'],
    [z.string().max(2), { field: 'abc' }, 'field: must have at most 2 characters'],
    [z.int(), { field: 1.5 }, 'field: must be a whole number'],
    [z.number().min(1), { field: 0 }, 'field: must be at least 1'],
    [z.number().gt(1), { field: 1 }, 'field: must be more than 1'],
    [z.array(z.int()).max(1), { field: [1, 2] }, 'field: must have at most 1 item'],
    [z.boolean(), { field: 'yes' }, 'field: must be true or false'],
    [z.enum(['started', 'completed']), { field: 'x' }, 'field: must be one of started, completed'],
    [z.literal('function'), { field: 'x' }, 'field: must be function'],
    [z.uuid(), { field: 'x' }, 'field: must be a UUID'],
    [processorConfig.shape.stop, { field: 1 }, 'field: must be a text, or a list of 1 to 4 texts'],
    [type, { field: { type: 'c' } }, 'field.type: must be one of a, b'],
    [z.string(), { field: 'x', feild: 'x' }, 'feild: is not a known field'],
    [z.string(), { feild: 'x' }, 'field: is required; feild: is not a known field: did you mean field?'],
    [z.string('must be a word'), { field: 1 }, 'field: must be a word'],
  ];
  for (const [schema, value, message] of worded)
    it(`says for ${JSON.stringify(value)}: ${message}`, () => {
      assert.equal(of(schema, value), message);
    });
});
