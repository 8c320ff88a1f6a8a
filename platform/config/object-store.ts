// Where large values are stored outside the database: WEIR_OBJECT_STORE, and AWS's standard variables.
import { z } from 'zod';
import type { ObjectStoreOptions } from '../object-store/object-store-options.ts';
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
  /** The bucket, and the start of the keys in it, for large requests and outputs: `s3://bucket/prefix`; PostgreSQL when absent. */
  WEIR_OBJECT_STORE: bucketAndPrefix.optional(),
  /** The URL of the store; AWS in AWS_REGION when absent. */
  WEIR_OBJECT_STORE_ENDPOINT: httpUrl.optional(),
  /** The URL at which callers reach the store, for signed URLs; WEIR_OBJECT_STORE_ENDPOINT when absent. */
  WEIR_OBJECT_STORE_PUBLIC_ENDPOINT: httpUrl.optional(),
  /** `on`: the bucket is in the path of URLs; by default for a store with an endpoint of its own. */
  WEIR_OBJECT_STORE_PATH_STYLE: onOrOff.optional(),
  /** Requests and outputs of at least so many bytes of JSON are stored there. */
  WEIR_OBJECT_STORE_MIN_BYTES: wholeNumber(MIN_BYTES_LEAST, MIN_BYTES_MOST).default(MIN_BYTES_DEFAULT),
  /** The encryption that the store is asked for: `AES256`, `aws:kms` or `aws:kms:<key id>`. */
  WEIR_OBJECT_STORE_ENCRYPTION: encryption.optional(),
  AWS_REGION: z.string().default('us-east-1'),
  AWS_ACCESS_KEY_ID: z.string().optional(),
  AWS_SECRET_ACCESS_KEY: z.string().optional(),
  AWS_SESSION_TOKEN: z.string().optional(),
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
