import { ServiceError } from '../../flow/errors.ts';

/** Several times the largest answer of Weir. */
const ANSWER_MAX_BYTES = 64 * 1024 * 1024;

/** Reads the body of an answer as text. Throws a ServiceError when it is larger than any answer of Weir. */
export async function readAnswer({ body, url }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = '';
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > ANSWER_MAX_BYTES)
      throw new ServiceError(
        'CONFLICT',
        `The answer of ${url} has over ${ANSWER_MAX_BYTES} bytes: it is not that of a Weir service.`,
      );
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
