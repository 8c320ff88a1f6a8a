// A store that speaks the protocol of S3. Only this file loads AWS's client.
import { Agent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Readable } from 'node:stream';
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { log } from '../observability/log.ts';
import {
  hashOf,
  ObjectLost,
  type ObjectStore,
  type ObjectStoreOptions,
  ObjectStoreUnavailable,
  type StoredObject,
} from './object-store.ts';

/** Whoever has the URL may read the object for so long. */
export const SIGNED_SECONDS = 300;

const MESSAGE_MAX_LENGTH = 300;

const PROBLEMS: { [status: number]: string } = {
  301: 'is in another region',
  403: 'refuses the credentials',
  404: 'has no such bucket',
  503: 'refuses requests for now',
};

type StoreError = Error & { $metadata?: { httpStatusCode?: number } };

const CONNECT_TIMEOUT_MS = 2_000;
/** A connection on which nothing moves for so long is given up. */
const IDLE_MAX_MS = 5_000;
/** A value that takes longer to write goes to the database: a write delays its block, or the answer to its request. */
export const PUT_MAX_MS = 3_000;
const GET_MAX_MS = 30_000;
const REMOVE_MAX_MS = 30_000;
/** So long after a failed write the store counts as away. Whether it takes the next one shows only once there is one. */
const AWAY_MS = 60_000;

/** Opens the store; connections are made when they are needed. `now` is in milliseconds. */
export function createS3Store(options: ObjectStoreOptions, now = () => performance.now()): ObjectStore {
  const { bucket, prefix, minBytes, encryption } = options;
  const client = createClient(options, options.endpoint);
  const signing = createClient(options, options.publicEndpoint ?? options.endpoint);
  /** When a write last failed; undefined once one has succeeded. */
  let failedAt: number | undefined;
  const encrypted = encryption && {
    ServerSideEncryption: encryption.algorithm,
    ...(encryption.keyId && { SSEKMSKeyId: encryption.keyId }),
  };

  async function write(command: PutObjectCommand): Promise<void> {
    try {
      await client.send(command, { abortSignal: AbortSignal.timeout(PUT_MAX_MS) });
    } catch (error) {
      if (failedAt === undefined)
        log.warn({ err: error }, 'The object store takes no writes; the database keeps large values.');
      failedAt = now();
      throw toStoreError(error);
    }
    if (failedAt !== undefined) log.info('The object store takes writes again.');
    failedAt = undefined;
  }

  return {
    minBytes,
    locate: (key) => `${bucket}/${prefix}${key}`,

    async put({ location, sha256 }, bytes) {
      const command = new PutObjectCommand({
        ...objectOf(location),
        Body: bytes,
        ContentType: 'application/json',
        ...encrypted,
      });
      // The store compares the bytes with this hash; without it, the client would compute it again, and hold up the process.
      command.middlewareStack.add(withHeader('x-amz-content-sha256', sha256), { step: 'build' });
      await write(command);
    },

    async get(object) {
      const command = new GetObjectCommand(objectOf(object.location));
      try {
        const { Body } = await client.send(command, { abortSignal: AbortSignal.timeout(GET_MAX_MS) });
        return await readBody(Body as Readable, object);
      } catch (error) {
        throw toStoreError(error);
      }
    },

    async remove(locations) {
      const gone: string[] = [];
      let failure: unknown;
      for (const [name, keys] of Map.groupBy(locations, (location) => objectOf(location).Bucket)) {
        const Objects = keys.map((location) => ({ Key: objectOf(location).Key }));
        const command = new DeleteObjectsCommand({ Bucket: name, Delete: { Objects, Quiet: true } });
        const abortSignal = AbortSignal.timeout(REMOVE_MAX_MS);
        try {
          const { Errors = [] } = await client.send(command, { abortSignal });
          const left = new Set(Errors.filter(({ Code }) => Code !== 'NoSuchKey').map(({ Key }) => Key));
          gone.push(...keys.filter((location) => !left.has(objectOf(location).Key)));
        } catch (error) {
          // A bucket that was given up must not keep the objects of others.
          failure = error;
        }
      }
      if (failure && gone.length === 0) throw toStoreError(failure);
      if (failure) log.warn({ err: failure }, 'Some objects could not be removed: they are tried again.');
      return gone;
    },

    sign: ({ location }) => signUrl(signing, objectOf(location)),

    async findProblem(timeoutMs) {
      const abortSignal = AbortSignal.timeout(timeoutMs);
      const problem = await client.send(new HeadBucketCommand({ Bucket: bucket }), { abortSignal }).then(
        () => undefined,
        (error: unknown) => describeProblem(error),
      );
      const hasJustFailed = failedAt !== undefined && now() - failedAt < AWAY_MS;
      return problem ?? (hasJustFailed ? 'takes no writes' : undefined);
    },

    close() {
      client.destroy();
      signing.destroy();
    },
  };
}

function createClient({ region, pathStyle, credentials }: ObjectStoreOptions, endpoint: string | undefined) {
  return new S3Client({
    region,
    forcePathStyle: pathStyle,
    ...(endpoint && { endpoint }),
    ...(credentials && { credentials }),
    // The second is for a connection that was closed; beyond that, callers decide.
    maxAttempts: 2,
    // The hash in each request does what checksums do, and every store knows it.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Asking first would open a new connection for each large value.
    expectContinueHeader: false,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: IDLE_MAX_MS,
      httpAgent: new Agent({ keepAlive: true }),
      httpsAgent: new HttpsAgent({ keepAlive: true }),
    },
  });
}

function objectOf(location: StoredObject['location']): { Bucket: string; Key: string } {
  const end = location.indexOf('/');
  return { Bucket: location.slice(0, end), Key: location.slice(end + 1) };
}

type Request = { headers: Record<string, string> };

function withHeader(name: string, value: string) {
  return <Args extends { request?: unknown }, Result>(next: (args: Args) => Promise<Result>) =>
    (args: Args) => {
      (args.request as Request).headers[name] = value;
      return next(args);
    };
}

/** Collects the bytes of an object. Rejects with ObjectLost if the bytes differ from the written bytes. */
async function readBody(body: Readable, { bytes, sha256 }: StoredObject): Promise<Buffer> {
  const collected = Buffer.allocUnsafeSlow(bytes);
  let length = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    if (length + chunk.length > bytes) throw new ObjectLost('The object is longer than it was.');
    collected.set(chunk, length);
    length += chunk.length;
  }
  if (length < bytes) throw new ObjectLost('The object is shorter than it was.');
  if ((await hashOf(collected)) !== sha256) throw new ObjectLost('The object has other bytes than it had.');
  return collected;
}

/** Describes why the store cannot serve, in words that may be public. */
function describeProblem(error: unknown): string {
  const status = (error as StoreError).$metadata?.httpStatusCode;
  return (status && PROBLEMS[status]) || 'does not answer';
}

/** Turns an error of the client into ObjectLost, for an object that is not there, or ObjectStoreUnavailable. */
function toStoreError(error: unknown): Error {
  if (error instanceof ObjectLost || error instanceof ObjectStoreUnavailable) return error;
  const { name, message, $metadata } = error as StoreError;
  if (name === 'NoSuchKey') return new ObjectLost('The object is not there.', { cause: error });
  const status = $metadata?.httpStatusCode ? ` (${$metadata.httpStatusCode})` : '';
  const text = `The object store is away: ${name}${status}: ${message}`;
  return new ObjectStoreUnavailable(text.slice(0, MESSAGE_MAX_LENGTH), { cause: error });
}

/** Signs a URL under which browsers save the object, and never show it as a page. */
export async function signUrl(
  client: S3Client,
  place: { Bucket: string; Key: string },
  seconds = SIGNED_SECONDS,
): Promise<{ url: string; expiresAt: Date }> {
  const command = new GetObjectCommand({
    ...place,
    ResponseContentType: 'application/json',
    ResponseContentDisposition: 'attachment; filename="output.json"',
  });
  const signingDate = new Date();
  const url = await getSignedUrl(client, command, { expiresIn: seconds, signingDate });
  return { url, expiresAt: new Date(signingDate.getTime() + seconds * 1_000) };
}
