// Request and response schemas of model keys.
import { z } from 'zod';

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

export const modelKeyList = z
  .object({ modelKeys: z.array(modelKeyRecord) })
  .meta({ id: 'ModelKeyList', description: 'At most one key of each provider.' });

export const modelKeyExample = {
  provider: 'openai',
  keyPreview: '…f3Qa',
  createdBy: 'auth0|5f7c8ec7c33c6c004bbafe82',
  updatedAt: '2026-01-31T12:00:00.000Z',
};
