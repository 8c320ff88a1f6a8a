import type { Payload } from '@temporalio/common';
import { z } from 'zod';
import { listReadableWorkflows } from '../../db/tenants/list-readable-workflows.ts';
import { ServiceError } from '../../flow/errors.ts';
import { UUID_PATTERN } from '../../flow/limits.ts';
import { compressPayloads } from '../../temporal/compress-payloads.ts';
import { type EncryptingCodec, encryptPayloads } from '../../temporal/encrypt-payloads.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware } from '../http/context.ts';
import { fewEntries } from '../http/few-entries.ts';
import { holdMadeAnswer } from '../http/hold-made-answers.ts';
import { ownerOf } from '../http/principal.ts';
import { BODY_MAX_BYTES } from '../http/receive-body.ts';

export const PAYLOADS_MAX = 1_000;
/** In one payload. Temporal writes fewer than ten. */
export const METADATA_MAX = 32;
const UUID_CHARS = 36;

const base64 = z.string().meta({ description: 'Base64, as in the JSON form of protocol buffers.' });
const payload = z
  .looseObject({
    metadata: fewEntries(METADATA_MAX, z.record(z.string(), base64)).optional(),
    data: base64.optional(),
  })
  .meta({ id: 'TemporalPayload' });
export const payloadsBody = z
  .looseObject({ payloads: z.array(payload).max(PAYLOADS_MAX) })
  .meta({ id: 'TemporalPayloads' });
type JsonPayload = z.infer<typeof payload>;

export function notReadable(): ServiceError {
  return new ServiceError(
    'FORBIDDEN',
    'These payloads are of no run, test run or delivery that you may read: sign in as a member of its organization.',
  );
}

/**
 * Decrypts the payloads of workflows that the caller may read, and returns all others unchanged. Throws FORBIDDEN
 * when the caller may read none of them. Encryption binds a payload to its workflow. For a payload that cannot be
 * decrypted, returns a text with the reason, which the Web UI shows instead.
 */
export function decodePayloads({ db, config, largeValues }: ApiDeps): ApiMiddleware {
  const codec = encryptPayloads(config.temporalEncryption);
  return async function decodePayloads(ctx) {
    const { payloads } = ctx.state.body as z.infer<typeof payloadsBody>;
    const parsed = payloads.map(fromJson);
    const owners = parsed.map((one) => findWorkflow(codec, one));
    const ids = [...new Set(owners.filter((id) => id !== undefined && UUID_PATTERN.test(id)))] as string[];
    const readable = ids.length > 0 ? await listReadableWorkflows(db, ctx.state.user.userId, ids) : new Set();
    if (readable.size === 0 && owners.some((id) => id !== undefined)) throw notReadable();
    const answered: JsonPayload[] = [];
    let room = BODY_MAX_BYTES;
    for (const [index, sent] of payloads.entries()) {
      const mayRead = readable.has(owners[index]);
      const decoded = mayRead ? await decode(codec, parsed[index] as Payload) : undefined;
      room -= decoded?.data?.length ?? 0;
      if (room < 0)
        throw new ServiceError('BODY_TOO_LARGE', `They decode to over ${BODY_MAX_BYTES} bytes: send fewer.`);
      answered.push(decoded ? toJson(decoded) : sent);
    }
    const text = JSON.stringify({ payloads: answered });
    ctx.state.endLargeWork();
    await holdMadeAnswer(largeValues, ctx, ownerOf(ctx.state.principal), Buffer.byteLength(text));
    ctx.type = 'json';
    ctx.body = text;
  };
}

/**
 * Finds the id of the run, test run or delivery at the start of the workflow id; undefined when nothing is encrypted.
 */
function findWorkflow(codec: EncryptingCodec, payload: Payload): string | undefined {
  return codec.findWorkflowId(payload)?.slice(0, UUID_CHARS).toLowerCase();
}

async function decode(codec: EncryptingCodec, payload: Payload): Promise<Payload> {
  try {
    const [decoded] = await compressPayloads.decode(await codec.decode([payload]));
    return decoded as Payload;
  } catch (error) {
    const text = `Weir cannot decode this: ${(error as Error).message}`;
    return { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(JSON.stringify(text)) };
  }
}

function fromJson({ metadata, data = '' }: JsonPayload): Payload {
  const entries = Object.entries(metadata ?? {}).map(([name, value]) => [name, Buffer.from(value, 'base64')]);
  return { metadata: Object.fromEntries(entries), data: Buffer.from(data, 'base64') };
}

function toJson({ metadata, data }: Payload): JsonPayload {
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  const entries = Object.entries(metadata ?? {}).map(([name, value]) => [name, text(value)]);
  return { metadata: Object.fromEntries(entries), data: text(data ?? new Uint8Array()) };
}
