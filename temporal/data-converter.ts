// What becomes of values on their way to Temporal: compressed when they are large, then encrypted when a key is configured.
import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import type { Config } from '../platform/config/config.ts';
import { compressPayloads } from './compress-payloads.ts';
import { encryptPayloads } from './encrypt-payloads.ts';

const FAILURE_CONVERTER = fileURLToPath(new URL('failure-converter.ts', import.meta.url));

/** Creates the data converter of every client and worker. Where payloads are encrypted, so are messages and stacks of failures. */
export function createDataConverter({
  temporalEncryption,
}: Pick<Config, 'temporalEncryption'>): DataConverter {
  return {
    payloadCodecs: [compressPayloads, encryptPayloads(temporalEncryption)],
    ...(temporalEncryption.encrypts && { failureConverterPath: FAILURE_CONVERTER }),
  };
}
