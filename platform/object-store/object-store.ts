// platform/object-store/ keeps large values outside the database, in a store that speaks the protocol of S3. A value is
// read back only when its bytes have not changed. db/ decides locations and deletes objects.

/** The name, length and hash of stored bytes, by which they are found and checked. */
export type StoredObject = {
  /** `bucket/key`, so that what was written before the bucket was changed is found. */
  location: string;
  bytes: number;
  /** SHA-256, in hexadecimal. */
  sha256: string;
};

/** Every function rejects with ObjectStoreUnavailable within seconds while the store cannot serve. `owner` takes turns. */
export type ObjectStore = {
  /** Values of at least so many bytes belong here. */
  minBytes: number;
  /** Returns where an object with this key would be written. */
  locate(key: string): string;
  /** Writes an object. Its bytes must not change or be freed before this settles. */
  put(owner: string, object: StoredObject, bytes: Uint8Array): Promise<void>;
  /** Reads an object. Rejects with ObjectLost when it is missing, or has other bytes than were written. */
  get(owner: string, object: StoredObject): Promise<Buffer>;
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
