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
