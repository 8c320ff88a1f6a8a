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
import { createTurns } from '../limits/turns.ts';
import { log } from '../observability/log.ts';
import {
  hashOf,
  ObjectLost,
  type ObjectStore,
  type ObjectStoreOptions,
  ObjectStoreUnavailable,
  type StoredObject,
} from './object-store.ts';

/** A circuit breaker: open after a failure, it lets one try through now and then, to find out whether it works again. */
type CircuitBreaker = {
  /** Whether it is closed, or it is time for one more try. */
  mayTry(): boolean;
  isOpen(): boolean;
  /** Whether it is open, and something has failed in the last `ms`. */
  hasFailedWithin(ms: number): boolean;
  open(): void;
  close(): void;
};

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

/** Requests of one process at a time, and more for organizations that have none. */
const REQUESTS = { places: 32, reserve: 8 };
const CONNECT_TIMEOUT_MS = 2_000;
/** A connection on which nothing moves for so long is given up. */
const IDLE_MAX_MS = 5_000;
/** A value that has waited so long for its turn, or could not be written within the other, is kept in the database instead. */
export const PUT_TURN_MAX_MS = 2_000;
/** Whoever writes may hold up one of the worker's workflow tasks, which are several times as many as may write and wait. */
const PUTS_WAITING_MAX = 32;
/** An output has 8 MiB at most, and a request rarely more than 12. */
export const PUT_MAX_MS = 8_000;
const GET_TURN_MAX_MS = 10_000;
const GET_MAX_MS = 30_000;
const REMOVE_MAX_MS = 30_000;
/** After a write has failed, this long only one at a time finds out whether the store is back. */
const REST_MS = 5_000;
/** So long after a failed write the store counts as away. Whether it takes the next one shows only once there is one. */
const AWAY_MS = 60_000;

/** Opens the store; connections are made when they are needed. `now` is in milliseconds. */
export function createS3Store(options: ObjectStoreOptions, now?: () => number): ObjectStore {
  const { bucket, prefix, minBytes, encryption } = options;
  const client = createClient(options, options.endpoint);
  const signing = createClient(options, options.publicEndpoint ?? options.endpoint);
  const turns = createTurns(REQUESTS);
  const breaker = createCircuitBreaker(REST_MS, now);
  let putsWaiting = 0;
  const encrypted = encryption && {
    ServerSideEncryption: encryption.algorithm,
    ...(encryption.keyId && { SSEKMSKeyId: encryption.keyId }),
  };

  async function inTurn<T>(
    owner: string,
    turnMaxMs: number,
    maxMs: number,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const endTurn = await turns.wait(owner, AbortSignal.timeout(turnMaxMs)).catch(() => {
      throw tooMany();
    });
    try {
      return await work(AbortSignal.timeout(maxMs));
    } catch (error) {
      throw toStoreError(error);
    } finally {
      endTurn();
    }
  }

  /** Waits for a turn to write, unless many wait already. */
  async function writeInTurn(owner: string, command: PutObjectCommand): Promise<void> {
    if (putsWaiting >= PUTS_WAITING_MAX && turns.isBusy(owner)) throw tooMany();
    let waits = true;
    const began = () => {
      if (waits) putsWaiting -= 1;
      waits = false;
    };
    putsWaiting += 1;
    await inTurn(owner, PUT_TURN_MAX_MS, PUT_MAX_MS, (abortSignal) => {
      began();
      return write(command, abortSignal);
    }).finally(began);
  }

  /** Writes, and notes whether the store takes writes. That an organization has too many of them says nothing of the store. */
  async function write(command: PutObjectCommand, abortSignal: AbortSignal): Promise<void> {
    try {
      await client.send(command, { abortSignal });
    } catch (error) {
      if (!breaker.isOpen())
        log.warn({ err: error }, 'The object store takes no writes; the database keeps large values.');
      breaker.open();
      throw error;
    }
    if (breaker.isOpen()) log.info('The object store takes writes again.');
    breaker.close();
  }

  return {
    minBytes,
    locate: (key) => `${bucket}/${prefix}${key}`,

    async put(owner, { location, sha256 }, bytes) {
      if (!breaker.mayTry()) throw new ObjectStoreUnavailable('The object store has just failed.');
      const command = new PutObjectCommand({
        ...objectOf(location),
        Body: bytes,
        ContentType: 'application/json',
        ...encrypted,
      });
      // The store compares the bytes with this hash; without it, the client would compute it again, and hold up the process.
      command.middlewareStack.add(withHeader('x-amz-content-sha256', sha256), { step: 'build' });
      await writeInTurn(owner, command);
    },

    get: (owner, object) =>
      inTurn(owner, GET_TURN_MAX_MS, GET_MAX_MS, async (abortSignal) => {
        const command = new GetObjectCommand(objectOf(object.location));
        const { Body } = await client.send(command, { abortSignal });
        return readBody(Body as Readable, object);
      }),

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
      return problem ?? (breaker.hasFailedWithin(AWAY_MS) ? 'takes no writes' : undefined);
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

function tooMany(): ObjectStoreUnavailable {
  return new ObjectStoreUnavailable('Too many large values of the organization are read or written at once.');
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

/** Creates a closed circuit breaker, with `restMs` between two tries while it is open. */
function createCircuitBreaker(restMs: number, now = () => performance.now()): CircuitBreaker {
  let until: number | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  return {
    mayTry() {
      if (until === undefined) return true;
      if (now() < until) return false;
      // Whoever comes while this one tries would wait for the same answer.
      until = now() + restMs;
      return true;
    },
    isOpen: () => until !== undefined,
    hasFailedWithin: (ms) => until !== undefined && now() - failedAt < ms,
    open() {
      failedAt = now();
      until = failedAt + restMs;
    },
    close() {
      until = undefined;
    },
  };
}
