import { URL_MAX_LENGTH } from '../../platform/net/parse-https-url.ts';
import { examplesOf, thrownBy } from '../reference/operations.ts';
import { mimeIncompatible, registryUnavailable } from './calls/require-image-support.ts';
import { blockedHost, readAttachment, tooManyAttachments } from './run-shapes/attachments.ts';
import { lookUpFailed } from './run-shapes/look-up-failed.ts';

const IMAGE = { kind: 'url', url: 'https://images.example/weir.png', mime_type: 'image/png' };
const refused = (change: object) => thrownBy(() => readAttachment({ ...IMAGE, ...change }, 0));

/** Examples of the 400s, by code. */
export const ATTACHMENT_ERROR_EXAMPLES = examplesOf(
  tooManyAttachments(),
  refused({ kind: 'data' }),
  refused({ url: 'http://images.example/weir.png' }),
  refused({ url: `${IMAGE.url}?${'x'.repeat(URL_MAX_LENGTH)}` }),
  blockedHost(0, 'localhost is not at a public address'),
  refused({ mime_type: 'application/pdf' }),
  refused({ filename: '../weir.png' }),
  mimeIncompatible({ step_id: 'describe', model: 'demo/chat', mime_type: 'image/png', index: 0 }),
);

/** Example of a failed host lookup. */
export const DNS_ERROR_EXAMPLE = examplesOf(
  lookUpFailed('attachments.0.url', 'images.example could not be looked up', { index: 0 }),
);

/** Example of a model list that is not loaded yet. */
export const REGISTRY_UNAVAILABLE = examplesOf(registryUnavailable());
