// The models of the demo server.
import { type ChatRequest, chatRequest, DemoModelError, imageCount } from './chat-request.ts';
import { DEVIATIONS, type Deviation } from './deviations.ts';

/** A delay or failure that the model's name asks for: `slow-<ms>`, `error-<status>`. */
type Directive = { delayMs: number; status: number | undefined };

/** The models without deviations. */
const PLAIN_MODELS: { [model: string]: string } = {
  chat: 'Answers with what it was asked.',
  vision: 'Takes images.',
  'no-tools': 'Refuses tools.',
  'no-schema': 'Refuses a JSON Schema; Weir knows, and writes it into the prompt.',
  'slow-300': 'Answers after 300 ms; any other number works too.',
  'error-503': 'Fails with that status; any other from 400 works too.',
};

/** The names of the models, without their prefix, and what they do. */
export const MODELS: { [model: string]: string } = {
  ...PLAIN_MODELS,
  ...Object.fromEntries(Object.entries(DEVIATIONS).map(([model, { description }]) => [model, description])),
};

/** Parses a request. Throws DemoModelError 400, or 404 for an unknown model, with the names of all models. */
export function parseChatRequest(body: unknown): {
  request: ChatRequest;
  directive: Directive;
  deviation: Deviation;
} {
  const parsed = chatRequest.safeParse(body);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new DemoModelError(400, issue?.message ?? 'Invalid request', issue?.path.join('.') || null);
  }
  const request = parsed.data;
  const name = request.model.replace(/^demo\//, '');
  const asked = /^(?:slow-(?<delay>\d{1,6})|error-(?<status>[45]\d\d))$/.exec(name);
  if (!asked && !Object.hasOwn(MODELS, name)) {
    throw new DemoModelError(
      404,
      `The model \`${request.model}\` does not exist. The models: ${Object.keys(MODELS).join(' ')}`,
      'model',
      'model_not_found',
    );
  }
  if (request.tools && name === 'no-tools') {
    throw new DemoModelError(400, 'This model does not support tools', 'tools', 'unsupported_parameter');
  }
  if (request.response_format?.type === 'json_schema' && name === 'no-schema') {
    throw new DemoModelError(400, 'This model does not support json_schema', 'response_format');
  }
  if (name !== 'vision' && request.messages.some((message) => imageCount(message) > 0)) {
    throw new DemoModelError(400, 'This model does not support images', 'messages');
  }
  const { delay = 0, status } = asked?.groups ?? {};
  const directive = { delayMs: Number(delay), status: status ? Number(status) : undefined };
  return { request, directive, deviation: DEVIATIONS[name] ?? { description: '' } };
}
