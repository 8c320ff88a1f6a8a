// What becomes of values on their way to Temporal: compressed when they are large, then encrypted when a key is configured.

import { hkdfSync } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { constants, deflate, inflate } from 'node:zlib';
import type { DataConverter, Payload, PayloadCodec, SerializationContext } from '@temporalio/common';
import proto from '@temporalio/proto';
import { LRUCache } from 'lru-cache';
import type { Config } from '../platform/config/config.ts';
import { openBytes, sealBytes } from '../platform/secrets/encrypt.ts';

/** The encoding of encrypted payloads, as the Temporal Web UI shows it. */
const ENCRYPTED = 'binary/encrypted';
const PURPOSE = 'weir temporal payload';

const DERIVED_KEYS_MAX = 2_000;
const Serialized = proto.temporal.api.common.v1.Payload;

/**
 * Encrypts and decrypts payloads. `findWorkflowId` reads the workflow id of an encrypted payload, without a key; undefined
 * when the payload is not encrypted.
 */
export type EncryptingCodec = PayloadCodec & { findWorkflowId(payload: Payload): string | undefined };

const COMPRESSED = 'binary/zlib';

/** Smaller payloads stay as they are, so that operators can read them in the Temporal Web UI. */
const THRESHOLD_BYTES = 8 * 1024;

/** Deflates large payloads on their way to the engine, and reads both deflated and plain ones. */
export const compressPayloads: PayloadCodec = {
  encode: (payloads) => Promise.all(payloads.map(compress)),
  decode: (payloads) => Promise.all(payloads.map(decompress)),
};

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

// Compresses payloads: the references that a wide parallel step after a long loop hands to each of its blocks would
// otherwise overflow a workflow task.

async function compress(payload: Payload): Promise<Payload> {
  const { data, metadata } = payload;
  if (!data || !metadata?.encoding || data.length < THRESHOLD_BYTES) return payload;
  return {
    metadata: { ...metadata, encoding: Buffer.from(COMPRESSED), 'inner-encoding': metadata.encoding },
    data: await promisify(deflate)(data, { level: constants.Z_BEST_SPEED }),
  };
}

async function decompress(payload: Payload): Promise<Payload> {
  const { 'inner-encoding': inner, ...metadata } = payload.metadata ?? {};
  if (!inner || !payload.data) return payload;
  return { metadata: { ...metadata, encoding: inner }, data: await promisify(inflate)(payload.data) };
}

// Encrypts payloads. Reading what Temporal stores of a workflow takes a configured key, and a payload moved to another
// workflow is refused.

/**
 * Creates the codec. Encrypts with the first key if `encrypts` is set, and decrypts with any key. Unencrypted payloads pass
 * unchanged. Each payload is bound to its workflow; other workflows refuse it.
 */
export function encryptPayloads({ keys, encrypts }: Config['temporalEncryption']): EncryptingCodec {
  const [newest] = keys;
  const derived = new LRUCache<string, Uint8Array>({ max: DERIVED_KEYS_MAX });

  /** Each workflow has its own key, since one key is safe for 2³² payloads, which a busy service writes in weeks. */
  function keyOf(id: string, workflowId: string): Uint8Array {
    const name = `${id}/${workflowId}`;
    const known = derived.get(name);
    if (known) return known;
    const main = keys.find((candidate) => candidate.id === id);
    if (!main) throw new Error(`${describe(workflowId, id)}, which is not in WEIR_TEMPORAL_KEYS.`);
    const key = new Uint8Array(hkdfSync('sha256', main.key, '', `${PURPOSE} ${workflowId}`, 32));
    derived.set(name, key);
    return key;
  }

  function encrypt(payload: Payload, id: string, workflowId: string): Payload {
    return {
      metadata: {
        encoding: Buffer.from(ENCRYPTED),
        'encryption-key-id': Buffer.from(id),
        'workflow-id': Buffer.from(workflowId),
      },
      data: sealBytes(keyOf(id, workflowId), Serialized.encode(payload).finish(), workflowId),
    };
  }

  function decrypt(payload: Payload, context: SerializationContext | undefined): Payload {
    const workflowId = findWorkflowId(payload);
    if (workflowId === undefined) return payload;
    if (context?.workflowId !== undefined && context.workflowId !== workflowId)
      throw new Error(`A payload of workflow ${workflowId} is refused in workflow ${context.workflowId}.`);
    const id = textOf(payload, 'encryption-key-id');
    const key = keyOf(id, workflowId);
    try {
      return Serialized.decode(openBytes(key, Buffer.from(payload.data ?? []), workflowId));
    } catch (cause) {
      const why = 'WEIR_TEMPORAL_KEYS has another key with that id, or the payload was changed';
      throw new Error(`${describe(workflowId, id)} and cannot be decrypted: ${why}.`, { cause });
    }
  }

  return {
    encode: async (payloads, context) =>
      encrypts && newest
        ? payloads.map((payload) => encrypt(payload, newest.id, context?.workflowId ?? ''))
        : payloads,
    decode: async (payloads, context) => payloads.map((payload) => decrypt(payload, context)),
    findWorkflowId,
  };
}

function findWorkflowId(payload: Payload): string | undefined {
  return textOf(payload, 'encoding') === ENCRYPTED ? textOf(payload, 'workflow-id') : undefined;
}

function textOf({ metadata }: Payload, name: string): string {
  return Buffer.from(metadata?.[name] ?? []).toString();
}

function describe(workflowId: string, id: string): string {
  return `A payload of workflow ${workflowId} is encrypted under the key ${id}`;
}
