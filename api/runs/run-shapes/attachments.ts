// Attachments of a run (docs/attachments.md).
import { z } from 'zod';
import { type ErrorCode, ServiceError } from '../../../flow/errors.ts';
import { type Attachment, IMAGE_MIME_TYPES, type ImageMimeType } from '../../../flow/run.ts';
import { parseHttpsUrl, URL_MAX_LENGTH } from '../../../platform/net/parse-https-url.ts';
import type { ResolvePublic } from '../../../platform/net/resolve-public.ts';
import { PARSE_OPTIONS, validationError } from '../../http/json-body.ts';
import { dropNulls } from '../../http/zod-input.ts';

export const ATTACHMENTS_MAX = 10;
export const FILENAME_MAX_LENGTH = 255;

const filename = z
  .string()
  .max(FILENAME_MAX_LENGTH, { error: `must have at most ${FILENAME_MAX_LENGTH} characters`, abort: true })
  .regex(/^(?:[^/\\.]|\.(?!\.))*$/, 'must not contain a slash, a backslash or "../.."');
const shape = z.strictObject({
  kind: z.literal('url', 'must be "url"'),
  url: z.string('must be an https URL').meta({
    format: 'uri',
    maxLength: URL_MAX_LENGTH,
    description:
      'An https URL at a public address. The service passes it on to the model and never fetches it.',
  }),
  mime_type: z
    .enum(IMAGE_MIME_TYPES, `must be one of ${IMAGE_MIME_TYPES.join(', ')}`)
    .meta({ description: 'Most models read only the first frame of a GIF.' }),
  filename: filename.optional().meta({ description: 'Derived from the URL path when absent.' }),
});
/** The error code for any problem of a field. */
const CODES: { [field in keyof typeof shape.shape]: ErrorCode } = {
  kind: 'ATTACHMENT_UNSUPPORTED_KIND',
  url: 'ATTACHMENT_INVALID_SCHEME',
  mime_type: 'ATTACHMENT_UNSUPPORTED_MIME',
  filename: 'ATTACHMENT_INVALID_FILENAME',
};

function describeShape({ jsonSchema }: { jsonSchema: object }): void {
  Object.assign(jsonSchema, z.toJSONSchema(shape), { $schema: undefined });
}

/** The field of a request. `readAttachments` checks the items, with a code for each mistake. */
export const attachmentsField = z
  .array(z.unknown().meta({ id: 'Attachment', override: describeShape }))
  .optional()
  .meta({ description: 'Images that every llm block gets with its prompt.', maxItems: ATTACHMENTS_MAX });

/**
 * Checks the attachments of a request. Hosts come last; they are looked up and nothing is fetched. Throws the code of
 * the first mistake with its `index`, VALIDATION_ERROR for an item that is not an attachment, and DNS_UNAVAILABLE.
 */
export async function readAttachments(raw: unknown[], resolvePublic: ResolvePublic): Promise<Attachment[]> {
  const read = readUnresolved(raw);
  const hosts = new Map(read.map(({ url }) => [url.host, url]));
  const resolved = await Promise.all(
    [...hosts].map(async ([host, url]) => [host, await resolvePublic(url)] as const),
  );
  const resolutions = new Map(resolved);
  for (const [index, { url }] of read.entries()) {
    const resolution = resolutions.get(url.host);
    if (resolution?.problem === 'no_answer') throw lookUpFailed(urlOf(index), resolution.message, { index });
    if (resolution?.problem) throw blockedHost(index, resolution.message);
  }
  return read.map(({ attachment }) => attachment);
}

type UnresolvedAttachment = { attachment: Attachment; url: URL };

/** Checks the attachments of a request except their hosts. Throws the code of the first mistake. */
export function readUnresolved(raw: unknown[]): UnresolvedAttachment[] {
  if (raw.length > ATTACHMENTS_MAX) throw tooManyAttachments();
  return raw.map(readAttachment);
}

/** Checks one attachment except its host. Keeps the URL as it was sent: `url` may be longer than the limit. */
export function readAttachment(raw: unknown, index: number): UnresolvedAttachment {
  dropNulls(shape, raw);
  const parsed = shape.safeParse(raw, PARSE_OPTIONS);
  if (!parsed.success) {
    const [wrong] = parsed.error.issues.flatMap(({ path: [field] }) => field ?? []);
    for (const issue of parsed.error.issues) issue.path.unshift('attachments', index);
    const error = validationError(parsed.error);
    if (wrong === undefined) throw error;
    throw new ServiceError(CODES[wrong as keyof typeof CODES], error.message, { index, ...error.extra });
  }
  const { kind, url: sent, mime_type } = parsed.data;
  const { url, problem, message } = parseHttpsUrl(sent);
  if (problem === 'too_long') throw refused('ATTACHMENT_URL_TOO_LONG', index, 'url', message);
  if (problem) throw refused('ATTACHMENT_INVALID_SCHEME', index, 'url', message);
  const name = parsed.data.filename || filenameOf(url, mime_type);
  return { attachment: { kind, url: sent, mime_type, filename: name }, url };
}

/** Derives a filename: the last segment of the path, or the MIME type when that segment is not a valid filename. */
function filenameOf({ pathname }: URL, mimeType: ImageMimeType): string {
  let segment = pathname.slice(pathname.lastIndexOf('/') + 1);
  try {
    segment = decodeURIComponent(segment);
  } catch {
    // An invalid percent-encoding stays as it is.
  }
  const usable = segment !== '' && filename.safeParse(segment).success;
  return usable ? segment : mimeType.replace('/', '.');
}

export function tooManyAttachments(): ServiceError {
  const message = `A request has at most ${ATTACHMENTS_MAX} attachments.`;
  return new ServiceError('ATTACHMENT_LIMIT_EXCEEDED', message, { index: ATTACHMENTS_MAX });
}

export function blockedHost(index: number, message: string): ServiceError {
  return refused('ATTACHMENT_BLOCKED_HOST', index, 'url', message);
}

function urlOf(index: number): string {
  return `attachments.${index}.url`;
}

function refused(code: ErrorCode, index: number, field: string, message: string): ServiceError {
  return new ServiceError(code, `attachments.${index}.${field}: ${message}.`, { index });
}

/** Makes the 503 for a failed host lookup. It says nothing about the host, and nothing was stored. */
export function lookUpFailed(field: string, message: string, extra: { index?: number } = {}): ServiceError {
  return new ServiceError('DNS_UNAVAILABLE', `${field}: ${message}: send the request again.`, extra);
}
