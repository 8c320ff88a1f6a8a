// The input of a run, as it is typed and as it is sent.
import type { components } from '../../api/schema.d.ts';
import { fromNumber, toNumber } from '../../ui/fields/read-text.ts';
import { isObject, readJson } from '../../ui/json/read-json.ts';
import type { Step } from '../draft/steps.ts';
import { listParameters } from '../inspector/variable-scope.ts';

export type Image = { url: string; mime_type: MimeType };
export const MIME_TYPES = ['image/jpeg', 'image/png', 'image/webp', 'image/gif'] as const;
export type MimeType = (typeof MIME_TYPES)[number];

/** Longer texts are not editable: the field would block the page. */
export const EDITED_MAX_CHARS = 500_000;

export type TryInput = {
  message: string;
  /** JSON texts; empty for none. */
  parameters: string;
  tools: string;
  /** `auto`, `none`, `required` or the name of a tool. */
  toolChoice: string;
  images: Image[];
  maxCredits: string;
};

export const EMPTY_INPUT: TryInput = {
  ...{ message: '', parameters: '', tools: '', toolChoice: 'auto', images: [], maxCredits: '' },
};

export type ParsedInput = {
  message: string;
  parameters?: Record<string, unknown>;
  attachments?: ({ kind: 'url' } & Image)[];
  maxCredits?: number;
  tools?: unknown[];
  toolChoice?: unknown;
};
/** The error of each field, as a sentence. */
type InputErrors = Partial<Record<keyof TryInput, string>>;

type Started = Pick<
  components['schemas']['RunRequest'],
  'message' | 'parameters' | 'tools' | 'toolChoice' | 'attachments' | 'maxCredits'
>;
/** Turns the full request of a run into form fields. */
export function toTryInput(started: Started): TryInput {
  const { message, parameters, tools, toolChoice, attachments, maxCredits } = started;
  const named = (toolChoice as { function?: { name?: string } } | null)?.function?.name;
  return {
    message: message ?? '',
    parameters: toText(parameters),
    tools: toText(tools),
    toolChoice: named ?? (typeof toolChoice === 'string' ? toolChoice : 'auto'),
    images: attachments.map(({ url, mime_type }) => ({ url, mime_type })),
    maxCredits: fromNumber(maxCredits),
  };
}

/** Writes a field of a request as JSON; '' when it is missing or empty. */
export function toText(value: object | null | undefined): string {
  return value && Object.keys(value).length > 0 ? JSON.stringify(value, null, 2) : '';
}

export const IMAGES_MAX = 10;
const IMAGE_URL_MAX = 2_048;
const TOOLS_MAX = 64;
/** Parses the form. Nothing is sent while there are errors. */
export function parseInput(input: TryInput): { request: ParsedInput; errors: InputErrors } {
  const errors: InputErrors = {};
  const parameters = read('parameters', 'an object, such as {"language": "en"}', (value) => isObject(value));
  const tools = read(
    'tools',
    'a list of tools, such as [{"type": "function", "function": {"name": "look_up"}}]',
    (value) => Array.isArray(value),
  ) as unknown[] | undefined;
  if (isObject(parameters) && 'attachments' in parameters)
    errors.parameters = 'The parameter “attachments” is reserved: give it another name.';
  if (tools && tools.length > TOOLS_MAX) errors.tools = `At most ${TOOLS_MAX} tools can be sent.`;
  const wrong = input.images.map(({ url }) => imageError(url)).find((error) => error !== undefined);
  if (wrong) errors.images = wrong;
  const maxCredits = toNumber(input.maxCredits);
  if (maxCredits !== undefined && !(maxCredits > 0 && maxCredits <= 1e9))
    errors.maxCredits = 'Must be a number of credits above 0, or empty.';
  const hasTools = tools !== undefined && tools.length > 0;
  const request: ParsedInput = {
    message: input.message,
    ...(parameters !== undefined && { parameters: parameters as Record<string, unknown> }),
    ...(input.images.length > 0 && { attachments: input.images.map((image) => ({ kind: 'url', ...image })) }),
    ...(maxCredits !== undefined && { maxCredits }),
    ...(hasTools && { tools, ...toolChoiceOf(input.toolChoice) }),
  };
  return { request, errors };

  function read(field: 'parameters' | 'tools', what: string, fits: (value: unknown) => boolean): unknown {
    if (input[field].trim() === '') return undefined;
    const { value, error } = readJson(input[field]);
    if (error === undefined && fits(value)) return value;
    errors[field] = error ?? `Must be ${what}.`;
    return undefined;
  }
}

function toolChoiceOf(choice: string): { toolChoice?: unknown } {
  if (choice === 'auto') return {};
  if (choice === 'none' || choice === 'required') return { toolChoice: choice };
  return { toolChoice: { type: 'function', function: { name: choice } } };
}

/** Lists the names of the tools in a JSON text, as far as it can be parsed. */
export function toolNames(text: string): string[] {
  try {
    const tools: unknown = JSON.parse(text);
    if (!Array.isArray(tools)) return [];
    return tools.flatMap((tool) => (typeof tool?.function?.name === 'string' ? [tool.function.name] : []));
  } catch {
    return [];
  }
}

/** Returns why an address cannot be sent as an image; undefined when it can. */
export function imageError(address: string): string | undefined {
  if (!URL.canParse(address)) return `“${address}” is not an address.`;
  const url = new URL(address);
  if (url.protocol !== 'https:')
    return 'Images are sent by an https address, which the model’s provider fetches.';
  if (address.length > IMAGE_URL_MAX) return `An address has at most ${IMAGE_URL_MAX} characters.`;
  return undefined;
}

/** Guesses an image's type from its extension; PNG by default. */
export function typeOfImage(address: string): MimeType {
  const [, extension = ''] = /\.(\w+)(?:[?#]|$)/.exec(address) ?? [];
  const named = extension.toLowerCase().replace('jpg', 'jpeg');
  return MIME_TYPES.find((type) => type === `image/${named}`) ?? 'image/png';
}

/** Lists the parameters that prompts and code of the flow refer to, in order. Code may use others. */
export function parametersUsed(steps: Step[]): string[] {
  return [...new Set(listParameters(steps).map((path) => path.split('.', 1).join()))];
}

/** Parses an edited output as JSON, or returns the error to show. */
export function parseOutput(text: string): { value?: unknown; error?: string } {
  return readJson(text, 'The output must');
}
