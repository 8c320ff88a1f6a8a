// What the API reference shows of attachments that are refused.

/** The examples of the 400s, by code. */
export const ATTACHMENT_REFUSALS = {
  ATTACHMENT_LIMIT_EXCEEDED: { message: 'At most 10 attachments are taken.', index: 10 },
  ATTACHMENT_UNSUPPORTED_KIND: { message: 'attachments.0.kind: must be "url".', index: 0 },
  ATTACHMENT_INVALID_SCHEME: { message: 'attachments.0.url: has to begin with https://.', index: 0 },
  ATTACHMENT_URL_TOO_LONG: { message: 'attachments.0.url: has more than 2048 characters.', index: 0 },
  ATTACHMENT_BLOCKED_HOST: {
    message: 'attachments.0.url: localhost is not at a public address.',
    index: 0,
  },
  ATTACHMENT_UNSUPPORTED_MIME: {
    message: 'attachments.0.mime_type: must be one of image/jpeg, image/png, image/webp, image/gif.',
    index: 0,
  },
  ATTACHMENT_INVALID_FILENAME: {
    message: 'attachments.0.filename: must not contain a slash, a backslash or "..".',
    index: 0,
  },
  MODEL_MIME_INCOMPATIBLE: {
    message: 'attachments.0.mime_type: demo/chat, the model of block describe, does not take image/png.',
    step_id: 'describe',
    model: 'demo/chat',
    unsupported_mime: 'image/png',
    index: 0,
  },
};

/** The example of the 503. */
export const CAPABILITY_REGISTRY_UNAVAILABLE =
  'It is not known yet which models take images: try again in 60 s.';
