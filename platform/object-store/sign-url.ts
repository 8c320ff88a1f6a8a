import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';

/** Whoever has the URL may read the object for so long. */
export const SIGNED_SECONDS = 300;

/** Signs a URL under which browsers save the object, and never show it as a page. */
export async function signUrl(
  client: S3Client,
  place: { Bucket: string; Key: string },
  seconds = SIGNED_SECONDS,
): Promise<{ url: string; expiresAt: Date }> {
  const command = new GetObjectCommand({
    ...place,
    ResponseContentType: 'application/json',
    ResponseContentDisposition: 'attachment; filename="output.json"',
  });
  const signingDate = new Date();
  const url = await getSignedUrl(client, command, { expiresIn: seconds, signingDate });
  return { url, expiresAt: new Date(signingDate.getTime() + seconds * 1_000) };
}
