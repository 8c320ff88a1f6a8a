// platform/object-store/ keeps large values outside the database, in a store that speaks the protocol of S3. A value is
// read back only when its bytes have not changed. db/ decides locations and deletes objects.

/** The options of a store that speaks the protocol of S3. */
export type ObjectStoreOptions = {
  bucket: string;
  /** The start of every key, with its final slash; may be empty. */
  prefix: string;
  /** The URL of the store; that of AWS for the region when absent. */
  endpoint: string | undefined;
  /** The URL in signed URLs, where callers reach the store under another one. */
  publicEndpoint: string | undefined;
  region: string;
  /** Whether the bucket is in the path of URLs, rather than in their host name. */
  pathStyle: boolean;
  /** Values of at least so many bytes are stored there. */
  minBytes: number;
  /** How the store is asked to encrypt each object; with its own default when absent. */
  encryption: { algorithm: 'AES256' | 'aws:kms'; keyId?: string } | undefined;
  /** Found in the way of AWS's tools when absent. */
  credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string } | undefined;
};

/** The name, length and hash of stored bytes, by which they are found and checked. */
export type StoredObject = {
  /** `bucket/key`, so that what was written before the bucket was changed is found. */
  location: string;
  bytes: number;
  /** SHA-256, in hexadecimal. */
  sha256: string;
};

/** Every function rejects with ObjectStoreUnavailable within seconds while the store cannot serve. */
export type ObjectStore = {
  /** Values of at least so many bytes belong here. */
  minBytes: number;
  /** Returns where an object with this key would be written. */
  locate(key: string): string;
  /** Writes an object. Its bytes must not change or be freed before this settles. */
  put(object: StoredObject, bytes: Uint8Array): Promise<void>;
  /** Reads an object. Rejects with ObjectLost when it is missing, or has other bytes than were written. */
  get(object: StoredObject): Promise<Buffer>;
  /** Deletes up to 1,000 objects, of which some may be gone already; returns the locations that are gone now. */
  remove(locations: string[]): Promise<string[]>;
  /** Makes a URL with which anybody may read the object, as a download, until it expires. Asks nobody. */
  sign(object: StoredObject): Promise<{ url: string; expiresAt: Date }>;
  /** Asks the store for the bucket; returns why it cannot serve, in words without secrets, or undefined. */
  findProblem(timeoutMs: number): Promise<string | undefined>;
  close(): void;
};

/** The object store is away, refuses, or is not configured; what was asked of it may be tried again. */
export class ObjectStoreUnavailable extends Error {
  override readonly name = 'ObjectStoreUnavailable';
}

/** A stored object is missing, or is not what was written. */
export class ObjectLost extends Error {
  override readonly name = 'ObjectLost';
}

/** Computes the SHA-256 of bytes, in hexadecimal, in a thread. */
export async function hashOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex');
}
