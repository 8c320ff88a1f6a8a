// Starts a real S3 server on loopback, over a folder of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CreateBucketCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { findFreePort } from '../../../dev/processes/ports.ts';
import { waitUntil } from '../../wait-until.ts';
import { canHaveS3Server, findS3Binary } from './s3-binary.ts';

const ACCESS_KEY = 'weir-test';
const SECRET_KEY = 'a secret of the test store';
export const BUCKET = 'weir-outputs';

export type S3Server = {
  url: string;
  /** The variables with which the service uses the bucket, and its prefix `runs/`. */
  env: NodeJS.ProcessEnv;
  /** A client with the same rights. */
  client: S3Client;
  /** Lists the keys in the bucket that contain a text: all, when there is none. */
  keys(part?: string): Promise<string[]>;
  stop(): Promise<void>;
};

/** Does what `describe` does, where the server can be had, and says so in the name where it cannot. */
export function describeWithS3(subject: string, body: (this: Mocha.Suite) => void): void {
  if (canHaveS3Server()) describe(subject, body);
  else describe.skip(`${subject} (skipped: no Go on this machine to build an S3 server with)`, body);
}

/** Starts the server, with an empty bucket. */
export async function startS3Server(): Promise<S3Server> {
  const binary = await findS3Binary();
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-s3-'));
  const [data, sidecar] = ['data', 'sidecar'].map((name) => path.join(folder, name)) as [string, string];
  for (const made of [data, sidecar]) mkdirSync(made);
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const server = spawn(
    binary,
    // Metadata is kept in files, since not every file system has extended attributes.
    ['--port', `127.0.0.1:${port}`, '--keep-alive', '--quiet', 'posix', '--sidecar', sidecar, data],
    { stdio: 'ignore', env: { ROOT_ACCESS_KEY: ACCESS_KEY, ROOT_SECRET_KEY: SECRET_KEY } },
  );
  const ended = once(server, 'exit');
  const client = new S3Client({
    endpoint: url,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY },
  });
  await waitUntil(() =>
    client.send(new CreateBucketCommand({ Bucket: BUCKET })).then(
      () => true,
      () => false,
    ),
  );
  return {
    url,
    client,
    env: {
      WEIR_OBJECT_STORE: `s3://${BUCKET}/runs`,
      WEIR_OBJECT_STORE_ENDPOINT: url,
      AWS_ACCESS_KEY_ID: ACCESS_KEY,
      AWS_SECRET_ACCESS_KEY: SECRET_KEY,
    },
    async keys(part = '') {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: BUCKET }));
      return Contents.map(({ Key = '' }) => Key).filter((key) => key.includes(part));
    },
    async stop() {
      client.destroy();
      server.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
