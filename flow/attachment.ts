// Images given to a run by URL (docs/attachments.md). Their bytes are never fetched or kept.

export const IMAGE_MIME_TYPES = ['image/jpeg', 'image/png', 'image/webp', 'image/gif'] as const;
export type ImageMimeType = (typeof IMAGE_MIME_TYPES)[number];

/** An image whose URL was checked and is kept as sent. By the time a model fetches it, the host may have another address. */
export type Attachment = { kind: 'url'; url: string; mime_type: ImageMimeType; filename: string };
