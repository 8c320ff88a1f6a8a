// JSON responses that contain JSON text, and values cut to a length.
import { freeBytes } from '../../platform/large-values/free-bytes.ts';
import type { ApiContext } from './context.ts';

/** JSON text that is written unchanged. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Writes an object as JSON. The object or its direct members may be JsonText. */
export function writeJson(object: object): string {
  if (object instanceof JsonText) return object.text;
  const members = Object.entries(object).map(([name, value]: [string, unknown]) => {
    const text = value instanceof JsonText ? value.text : JSON.stringify(value);
    return text === undefined ? undefined : `${JSON.stringify(name)}:${text}`;
  });
  return `{${members.filter((member) => member !== undefined).join(',')}}`;
}

/**
 * Answers with an object as JSON. Sent as bytes: of a text, the server would count the bytes before it encodes them.
 */
export function answerJson({ response, res }: Pick<ApiContext, 'response' | 'res'>, object: object): void {
  const bytes = Buffer.from(writeJson(object));
  response.type = 'json';
  response.body = bytes;
  res.once('finish', () => freeBytes(bytes));
}
