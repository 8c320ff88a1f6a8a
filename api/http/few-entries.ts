import { z } from 'zod';

/** Limits the number of entries before they are validated: the error would list every problem of each. */
export function fewEntries<K extends z.core.$ZodRecordKey, V extends z.ZodType>(
  most: number,
  record: z.ZodRecord<K, V>,
) {
  return z.preprocess(
    (value, context) => {
      if (typeof value === 'object' && value !== null && Object.keys(value).length > most)
        context.addIssue(`must have at most ${most} entries`);
      return value;
    },
    record.meta({ maxProperties: most }),
  );
}
