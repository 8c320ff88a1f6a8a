// Request and response schemas of model keys.
import { z } from 'zod';
import { queryBoolean } from '../http/query-fields.ts';

const KEY_MAX_LENGTH = 500;

/** A key as providers issue it: visible ASCII, which fits into a header. */
export const modelKeySchema = z
  .string()
  .min(1)
  .max(KEY_MAX_LENGTH)
  .regex(/^[!-+\--~]*$/, 'must be visible ASCII characters, without spaces and commas');

export const setModelKeyRequest = z.strictObject({ key: modelKeySchema }).meta({ id: 'SetModelKey' });

export const modelKeyRecord = z
  .object({
    provider: z.string().meta({ description: 'The prefix of its models.' }),
    keyPreview: z.string().meta({
      description:
        'The last characters of the key; none of a short key. The key itself is never shown again.',
    }),
    createdBy: z.string().meta({ description: 'The user who set it.' }),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'ModelKey' });

export const setModelKeyQuery = z.strictObject({
  check: queryBoolean(false, 'Whether to send the provider a request for one token with the key.'),
});

export const storedModelKey = modelKeyRecord
  .extend({
    check: z
      .object({
        result: z.enum(['accepted', 'rejected', 'unknown']).meta({
          description: '`unknown`: the provider did not answer, or is out of order.',
        }),
        message: z.string().nullable(),
      })
      .optional()
      .meta({
        description: 'With `check=true`: what the provider says to the key, which is stored all the same.',
      }),
  })
  .meta({ id: 'StoredModelKey' });

export const modelKeyList = z
  .object({ modelKeys: z.array(modelKeyRecord) })
  .meta({ id: 'ModelKeyList', description: 'At most one key of each provider.' });

export const modelKeyExample = {
  provider: 'openai',
  keyPreview: '…f3Qa',
  createdBy: 'auth0|5f7c8ec7c33c6c004bbafe82',
  updatedAt: '2026-01-31T12:00:00.000Z',
};
