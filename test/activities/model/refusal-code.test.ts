// Answers of providers to requests that they reject, as they send them.
import assert from 'node:assert/strict';
import { ModelUnavailable } from '../../../activities/attempts/model-unavailable.ts';
import type { ErrorCode } from '../../../flow/errors.ts';
import { respond } from '../../fakes/model-server.ts';
import { fails, useAskModel } from './ask-model-harness.ts';

const openAi = (message: string, code: string | null, param: string | null = null) => ({
  error: { message, type: 'invalid_request_error', param, code },
});
const google = (message: string, status: string, details: object[] = []) => [
  { error: { code: 400, message, status, details } },
];
const anthropic = (message: string, type = 'invalid_request_error') => ({
  type: 'error',
  error: { type, message },
});

const LONG = "This model's maximum context length is 128000 tokens. However, your messages have 130000.";
const TOO_LONG = openAi(LONG, 'context_length_exceeded', 'messages');
const NO_MODEL = openAi(
  'The model `gpt-5o` does not exist or you do not have access to it.',
  'model_not_found',
);
const NO_ACCESS = openAi('Project `proj_1` does not have access to model `o3`', 'model_not_found');
const NO_QUOTA = openAi('You exceeded your current quota, please check your plan.', 'insufficient_quota');
const SCHEMA = openAi(
  "Invalid schema for response_format 'output': 'a' needs a type.",
  null,
  'response_format',
);
const VLLM = { object: 'error', message: 'The model `x` does not exist.', type: 'NotFoundError', code: 404 };
const MISTRAL = { object: 'error', message: 'Invalid model: mistral-x', type: 'invalid_model', code: '1500' };
const LLAMA = { error: { code: 400, message: 'Too long.', type: 'exceed_context_size_error', n_ctx: 4096 } };
const PER_DAY = google('You exceeded your current quota.', 'RESOURCE_EXHAUSTED', [
  { violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier' }] },
]);
const FILTERED = openAi('The response was filtered due to the prompt triggering a policy.', 'content_filter');

const REJECTED: [provider: string, status: number, body: object, code: ErrorCode][] = [
  ['OpenAI', 404, NO_MODEL, 'MODEL_NOT_FOUND'],
  ['OpenAI', 403, NO_ACCESS, 'MODEL_NOT_FOUND'],
  ['vLLM', 404, VLLM, 'MODEL_NOT_FOUND'],
  ['Mistral', 400, MISTRAL, 'MODEL_NOT_FOUND'],
  ['OpenRouter', 400, openAi('a/b is not a valid model ID', null), 'MODEL_NOT_FOUND'],
  ['OpenAI', 400, TOO_LONG, 'PROMPT_TOO_LARGE'],
  ['Anthropic', 400, anthropic('prompt is too long: 210000 tokens > 200000 maximum'), 'PROMPT_TOO_LARGE'],
  ['Anthropic', 413, anthropic('Request exceeds the maximum size', 'request_too_large'), 'PROMPT_TOO_LARGE'],
  [
    'Google',
    400,
    google('The input token count (9) exceeds the maximum number of tokens allowed (8).', 'INVALID_ARGUMENT'),
    'PROMPT_TOO_LARGE',
  ],
  ['llama.cpp', 400, LLAMA, 'PROMPT_TOO_LARGE'],
  [
    'Anthropic',
    400,
    anthropic('input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000'),
    'PROMPT_TOO_LARGE',
  ],
  [
    'TGI',
    422,
    { error: 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000' },
    'PROMPT_TOO_LARGE',
  ],
  ['DashScope', 400, openAi('Range of input length should be [1, 30720]', null), 'PROMPT_TOO_LARGE'],
  ['OpenAI, sent no schema', 400, SCHEMA, 'MODEL_REQUEST_INVALID'],
  ['OpenAI', 429, NO_QUOTA, 'MODEL_QUOTA_EXCEEDED'],
  ['Google', 429, PER_DAY, 'MODEL_QUOTA_EXCEEDED'],
  ['Anthropic', 400, anthropic('Your credit balance is too low.'), 'MODEL_QUOTA_EXCEEDED'],
  ['DeepSeek', 402, openAi('Insufficient Balance', 'invalid_request_error'), 'MODEL_QUOTA_EXCEEDED'],
  ['LiteLLM', 429, openAi('Budget has been exceeded! Max budget: 10', null), 'MODEL_QUOTA_EXCEEDED'],
  ['LiteLLM', 400, openAi('User x has exceeded their budget. Max Budget: 10', null), 'MODEL_QUOTA_EXCEEDED'],
  ['Z.AI', 400, openAi('Your account is in arrears, please recharge', '1113'), 'MODEL_QUOTA_EXCEEDED'],
  [
    'DashScope',
    400,
    openAi('Access denied: is your account all right?', 'Arrearage'),
    'MODEL_QUOTA_EXCEEDED',
  ],
  ['Azure', 400, FILTERED, 'MODEL_REFUSED'],
  ['OpenRouter', 403, openAi('Your input was flagged', null), 'MODEL_REFUSED'],
  ['xAI', 400, { code: 'invalid', error: 'Incorrect API key provided: ab.' }, 'MODEL_KEY_REJECTED'],
  ['OpenAI', 403, openAi('Country not supported', 'unsupported_country'), 'MODEL_REQUEST_INVALID'],
  ['OpenAI', 400, openAi('Unsupported value: temperature', 'unsupported_value'), 'MODEL_REQUEST_INVALID'],
];

describe('a request that a provider rejects', () => {
  const harness = useAskModel();

  for (const [provider, status, body, code] of REJECTED)
    it(`fails with ${code}, for ${provider}'s ${status} ${JSON.stringify(body).slice(0, 120)}`, async () => {
      harness.server.will(respond(status, body));
      await assert.rejects(harness.call(), fails(code, RegExp(`\\(status ${status}\\): (?!status)`)));
      assert.equal(harness.server.calls.length, 1);
    });

  for (const said of [
    'registry.ollama.ai/library/gemma:2b does not support tools',
    'tools is not supported in this model. For a list of supported models, visit https://models.test',
    '`functions` are not supported here',
  ])
    it(`with tools is MODEL_TOOLS_UNSUPPORTED: ${said}`, async () => {
      harness.server.will(respond(400, openAi(said, null)));
      const tools = [{ type: 'function', function: { name: 'find' } } as const];
      await assert.rejects(
        harness.call({}, undefined, { tools }),
        fails('MODEL_TOOLS_UNSUPPORTED', /no tools/),
      );
    });

  it("is repeated where Google's quota is one of a minute, in the same words", async () => {
    const body = google('You exceeded your current quota.', 'RESOURCE_EXHAUSTED');
    await assert.rejects(harness.callAfter(respond(429, body)), ModelUnavailable);
  });

  for (const [body, status, code] of [
    [NO_ACCESS, 403, 'MODEL_NOT_FOUND'],
    [NO_QUOTA, 429, 'MODEL_QUOTA_EXCEEDED'],
    [openAi('Your input was flagged', null), 403, 'MODEL_REFUSED'],
    [openAi('Incorrect API key', 'invalid_api_key'), 401, 'BYOK_REJECTED'],
  ] as const)
    it(`is ${code} with a key of the caller's own, by the same words (${status})`, async () => {
      harness.server.will(respond(status, body));
      const own = async () => ({ ...harness.server.provider, own: true as const });
      await assert.rejects(harness.call({}, undefined, { begin: own }), fails(code, /own key|refused/));
    });
});
