// The rules by which the providers of cases.yaml refuse a request, by the words of the file.
import { isDeepStrictEqual } from 'node:util';

// biome-ignore lint/suspicious/noExplicitAny: requests are looked into by path
type Request = any;

const RULES: { [words: string]: (request: Request) => boolean } = {
  'messages[1].reasoning_content is present': ({ messages }) => messages[1]?.reasoning_content !== undefined,
  'messages[1].reasoning is present': ({ messages }) => messages[1]?.reasoning !== undefined,
  'strict is true and a $ref has other keywords beside it': ({ response_format: format }) =>
    format?.json_schema?.strict === true && hasCrowdedRef(format.json_schema.schema),
  'response_format is present': ({ response_format }) => response_format !== undefined,
  'an image_url begins with https': ({ messages }) =>
    partsOf(messages).some((part) => /^https/.test(part.image_url?.url ?? part.image_url ?? '')),
  'max_completion_tokens is present': ({ max_completion_tokens }) => max_completion_tokens !== undefined,
  'an assistant turn is empty': ({ messages }) =>
    messages.some(
      ({ role, content, tool_calls }: Request) => role === 'assistant' && !content && !tool_calls?.length,
    ),
};

/** Says whether a request fulfils a rule. Throws for a rule that it does not know. */
export function fulfils(request: Request, words: string): boolean {
  const rule = RULES[words];
  if (!rule) throw new Error(`No rule is known in these words: ${words}`);
  return rule(request);
}

/** Lists the content parts of all messages. */
export function partsOf(messages: Request[]): Request[] {
  return messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
}

function hasCrowdedRef(node: Request): boolean {
  if (typeof node !== 'object' || node === null) return false;
  const isCrowded = typeof node.$ref === 'string' && !isDeepStrictEqual(Object.keys(node), ['$ref']);
  return isCrowded || Object.values(node).some(hasCrowdedRef);
}
