// Where large values are stored outside the database: WEIR_OBJECT_STORE, and AWS's standard variables.
import { z } from 'zod';
import type { ObjectStoreOptions } from '../object-store/object-store.ts';
import { httpUrl, onOrOff, wholeNumber } from './values.ts';

const FORM = 'must have the form s3://bucket or s3://bucket/prefix';
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** Characters that need no escape anywhere. */
const PREFIX = /^[\w.-]+(\/[\w.-]+)*$/;
const PREFIX_MAX_LENGTH = 200;
const MIN_BYTES_DEFAULT = 256 * 1024;
const MIN_BYTES_LEAST = 16 * 1024;
/** More than any value has, so that nothing new is stored there. */
const MIN_BYTES_MOST = 64 * 1024 * 1024;

const bucketAndPrefix = z.string().transform((text, ctx) => {
  const [, bucket = '', prefix = ''] = /^s3:\/\/([^/]*)\/?(.*?)\/?$/.exec(text) ?? [];
  const isPrefix = prefix === '' || (PREFIX.test(prefix) && prefix.length <= PREFIX_MAX_LENGTH);
  if (BUCKET.test(bucket) && isPrefix && !prefix.split('/').some((part) => /^\.+$/.test(part)))
    return { bucket, prefix: prefix === '' ? '' : `${prefix}/` };
  ctx.addIssue(FORM);
  return z.NEVER;
});

const encryption = z
  .string()
  .regex(/^(AES256|aws:kms(:\S+)?)$/, 'must be AES256, aws:kms or aws:kms:<key id>')
  .transform((text) => {
    const keyId = text.slice('aws:kms:'.length);
    if (text === 'AES256') return { algorithm: 'AES256' as const };
    return { algorithm: 'aws:kms' as const, ...(keyId && { keyId }) };
  });

/** The variables; all but WEIR_OBJECT_STORE have no effect without it. */
export const objectStoreVariables = {
  WEIR_OBJECT_STORE: bucketAndPrefix.optional().meta({
    program: 'API, worker',
    byDefault: 'none: large values stay in PostgreSQL',
    description:
      '`s3://bucket/prefix` for large requests and outputs. Without it the other `WEIR_OBJECT_STORE_…` have no effect.',
  }),
  WEIR_OBJECT_STORE_ENDPOINT: httpUrl.optional().meta({
    program: 'API, worker',
    byDefault: 'AWS in `AWS_REGION`',
    description: 'URL of a store of your own.',
  }),
  WEIR_OBJECT_STORE_PUBLIC_ENDPOINT: httpUrl.optional().meta({
    program: 'API',
    byDefault: '`WEIR_OBJECT_STORE_ENDPOINT`',
    description: 'URL of the store in signed URLs.',
  }),
  WEIR_OBJECT_STORE_PATH_STYLE: onOrOff.optional().meta({
    program: 'API, worker',
    byDefault: '`on` with an endpoint, else `off`',
    description: '`on` puts the bucket into the path of URLs instead of the host name.',
  }),
  WEIR_OBJECT_STORE_MIN_BYTES: wholeNumber(MIN_BYTES_LEAST, MIN_BYTES_MOST).default(MIN_BYTES_DEFAULT).meta({
    program: 'API, worker',
    description:
      'Values of at least so many bytes of JSON go to the store: 16384 to 67108864. The maximum stores no new values.',
  }),
  WEIR_OBJECT_STORE_ENCRYPTION: encryption.optional().meta({
    program: 'API, worker',
    byDefault: 'that of the bucket',
    description: '`AES256`, `aws:kms` or `aws:kms:<key id>`, requested with each object.',
  }),
  AWS_REGION: z
    .string()
    .default('us-east-1')
    .meta({ program: 'API, worker', description: 'Region of the bucket.' }),
  AWS_ACCESS_KEY_ID: z.string().optional().meta({
    program: 'API, worker',
    byDefault: "as AWS's tools find them",
    description: 'Credentials of the object store.',
  }),
  AWS_SECRET_ACCESS_KEY: z.string().optional().meta({
    program: 'API, worker',
    byDefault: "as AWS's tools find them",
    description: 'Credentials of the object store.',
  }),
  AWS_SESSION_TOKEN: z.string().optional().meta({
    program: 'API, worker',
    byDefault: "as AWS's tools find them",
    description: 'Credentials of the object store.',
  }),
};
type Variables = z.output<z.ZodObject<typeof objectStoreVariables>>;

/** Reads where large values are stored; undefined: in the database. */
export function readObjectStore(values: Variables): ObjectStoreOptions | undefined {
  if (!values.WEIR_OBJECT_STORE) return undefined;
  const endpoint = values.WEIR_OBJECT_STORE_ENDPOINT;
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = values;
  const sessionToken = values.AWS_SESSION_TOKEN;
  return {
    ...values.WEIR_OBJECT_STORE,
    endpoint,
    publicEndpoint: values.WEIR_OBJECT_STORE_PUBLIC_ENDPOINT,
    region: values.AWS_REGION,
    pathStyle: values.WEIR_OBJECT_STORE_PATH_STYLE ?? endpoint !== undefined,
    minBytes: values.WEIR_OBJECT_STORE_MIN_BYTES,
    encryption: values.WEIR_OBJECT_STORE_ENCRYPTION,
    credentials:
      accessKeyId && secretAccessKey
        ? { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }
        : undefined,
  };
}
