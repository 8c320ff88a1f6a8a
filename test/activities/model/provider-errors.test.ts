// Errors of providers by their meaning: whose words they quote, what is repeated, and what is hidden.
import assert from 'node:assert/strict';
import { ModelUnavailable } from '../../../activities/attempts/model-unavailable.ts';
import type { ErrorCode } from '../../../flow/errors.ts';
import { respond } from '../../fakes/model-server.ts';
import { fails, useAskModel } from './ask-model-harness.ts';

const SAID = 'The model llama-9 does not exist';
const openAi = (message: string, code: string | null = null, type = 'invalid_request_error') => ({
  error: { message, type, param: null, code },
});
const google = (message: string, details: object[]) => [
  { error: { code: 429, message, status: 'RESOURCE_EXHAUSTED', details } },
];

const SHAPES: [name: string, body: unknown][] = [
  ['a detail', { detail: SAID }],
  [
    "pydantic's list",
    { detail: [{ type: 'missing', loc: ['body', 'model'], msg: SAID, input: { a: 'secret prompt' } }] },
  ],
  ['a bare object', { object: 'error', message: SAID, type: 'NotFoundError', code: 404 }],
  [
    'a message that is an object',
    { object: 'error', message: { detail: [{ loc: ['body', 'x'], msg: SAID }] } },
  ],
  ['an error_code', { error_code: 'BAD_REQUEST', message: SAID }],
  ["Cloudflare's list", { result: null, success: false, errors: [{ code: 7003, message: SAID }] }],
  ['an error that is a text', { error: SAID }],
  ['an error that is a list', { error: [SAID], error_type: 'validation' }],
  ["Amazon's Message", { Message: SAID }],
  [
    "OpenRouter's raw error",
    {
      error: {
        message: 'Provider returned error',
        metadata: { raw: JSON.stringify({ error: { message: SAID } }) },
      },
    },
  ],
  ['an error in an error', { error: { message: JSON.stringify(openAi(SAID)) } }],
  ['problem details', { type: 'about:blank', title: 'Bad Request', detail: SAID }],
  ['an inner error', { error: { code: '400', message: null, innererror: { message: SAID } } }],
  [
    "Google's details",
    [
      {
        error: {
          message: 'Invalid',
          details: [{ fieldViolations: [{ field: 'model', description: SAID }] }],
        },
      },
    ],
  ],
  ['a status message', { base_resp: { status_code: 1004, status_msg: SAID } }],
  ['an event of a stream', `event: error\ndata: ${JSON.stringify(openAi(SAID))}\n\n`],
  ['a plain text', SAID],
  ['the title of a web page', `<html><head><title>${SAID}</title></head><body></body></html>`],
  ['a web page', `<!DOCTYPE html><html><head><style>p{}</style></head><body><h1>${SAID}</h1></body></html>`],
];

/** Errors that no repetition mends, as providers send them. */
const FINAL: [status: number, body: object | string, code: ErrorCode, said: RegExp][] = [
  [
    429,
    openAi('You exceeded your current quota, please check your plan.', 'insufficient_quota'),
    'MODEL_QUOTA_EXCEEDED',
    /quota/,
  ],
  [
    429,
    openAi(
      'Rate limit reached on tokens per day (TPD): Limit 100000, Used 99990. Please try again in 7m12s.',
      'rate_limit_exceeded',
      'tokens',
    ),
    'MODEL_QUOTA_EXCEEDED',
    /per day/,
  ],
  [
    429,
    { error: { message: 'Rate limit exceeded: free-models-per-day', code: 429 } },
    'MODEL_QUOTA_EXCEEDED',
    /per-day/,
  ],
  [
    429,
    google('Quota exceeded for metric: x, limit: 0, model: gemini-2.5-pro. Please retry in 12s.', []),
    'MODEL_QUOTA_EXCEEDED',
    /limit: 0/,
  ],
  [500, openAi('insufficient quota', 'insufficient_user_quota'), 'MODEL_QUOTA_EXCEEDED', /quota/],
  [
    400,
    {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'You have reached your specified API usage limits.' },
    },
    'MODEL_QUOTA_EXCEEDED',
    /usage limits/,
  ],
  [
    413,
    openAi(
      'Request too large on tokens per minute (TPM): Limit 6000, Requested 9000',
      'rate_limit_exceeded',
      'tokens',
    ),
    'PROMPT_TOO_LARGE',
    /9000/,
  ],
  [500, openAi("This model's maximum context length is 4096 tokens."), 'PROMPT_TOO_LARGE', /4096/],
  [
    403,
    openAi('Your API key does not have access to model gpt-9.'),
    'MODEL_NOT_FOUND',
    /does not have access/,
  ],
  [
    401,
    { error: { message: 'key not allowed to access model', type: 'key_model_access_denied', code: '401' } },
    'MODEL_NOT_FOUND',
    /not allowed/,
  ],
  [403, openAi('This model is not available in your region.'), 'MODEL_REQUEST_INVALID', /region/],
  [
    404,
    openAi('No endpoints found matching your data policy (Zero data retention).'),
    'MODEL_REQUEST_INVALID',
    /data policy/,
  ],
  [403, openAi('Content violates usage guidelines.'), 'MODEL_REFUSED', /guidelines/],
  [403, openAi('Your input was flagged. No credits were charged.'), 'MODEL_REFUSED', /flagged/],
  [400, openAi('Upstream said no. No credits were charged.'), 'MODEL_REQUEST_INVALID', /Upstream/],
  [403, openAi('Key limit exceeded (total limit).'), 'MODEL_QUOTA_EXCEEDED', /Key limit/],
  [429, openAi('余额不足或无可用资源包,请充值。', '1113'), 'MODEL_QUOTA_EXCEEDED', /余额不足/],
  [429, openAi('Please retry after 86400 seconds.', '429'), 'MODEL_QUOTA_EXCEEDED', /86400/],
  [404, openAi('No endpoints found that support image input'), 'MODEL_REQUEST_INVALID', /image input/],
  [401, openAi('Your IP address is not authorized.', 'ip_not_authorized'), 'MODEL_REQUEST_INVALID', /IP/],
  [403, { message: 'The security token included in the request is invalid.' }, 'MODEL_KEY_REJECTED', /token/],
  [403, openAi('Your API key was reported as leaked.'), 'MODEL_KEY_REJECTED', /leaked/],
  [400, { message: 'The provided model identifier is invalid.' }, 'MODEL_NOT_FOUND', /identifier/],
  [403, '', 'MODEL_REQUEST_INVALID', /no reason/],
  [401, '', 'MODEL_KEY_REJECTED', /no reason/],
  [
    403,
    { error: { message: 'API key expired. Please renew it.', status: 'PERMISSION_DENIED' } },
    'MODEL_KEY_REJECTED',
    /expired/,
  ],
  [
    400,
    {
      error: {
        message: 'Prompt triggered a policy',
        code: 'content_filter',
        innererror: {
          code: 'ResponsibleAIPolicyViolation',
          content_filter_result: { jailbreak: { filtered: true }, hate: { filtered: false } },
        },
      },
    },
    'MODEL_REFUSED',
    /filtered: jailbreak$|filtered: jailbreak; /,
  ],
  [
    422,
    {
      object: 'error',
      message: {
        detail: [
          {
            type: 'extra_forbidden',
            loc: ['body', 'max_completion_tokens'],
            msg: 'Extra inputs are not permitted',
          },
        ],
      },
    },
    'MODEL_REQUEST_INVALID',
    /body\.max_completion_tokens: Extra inputs/,
  ],
  [400, openAi("'temperature' is not allowed for this model."), 'MODEL_REQUEST_INVALID', /temperature/],
  [501, openAi('Not implemented', 'server_error'), 'MODEL_REQUEST_INVALID', /implemented/],
  [505, '', 'MODEL_REQUEST_INVALID', /505/],
];

/** Errors that may pass, with the time that they name. */
const PASSING: [
  status: number,
  body: object | string,
  waitMs?: number | undefined,
  headers?: Record<string, string>,
][] = [
  [400, openAi('Timeout while downloading https://img.example/c.png.', 'invalid_image_url')],
  [400, openAi('Failed to call a function.', 'tool_use_failed')],
  [400, openAi('Failed to validate JSON.', 'json_validate_failed')],
  [400, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }],
  [400, { error: 'Model x is currently loading', estimated_time: 20 }, 20_000],
  [400, openAi('Upstream error: connection reset, please retry')],
  [400, openAi('Odd'), undefined, { 'x-should-retry': 'true' }],
  [403, openAi('Slow down', 'rate_limit_exceeded')],
  [413, openAi('Too many tokens a minute. Please try again in 1.2s.', 'rate_limit_exceeded'), 1_200],
  [400, { error: 'The model has crashed without additional information. (Exit code: 6)' }],
  [400, { error: 'Model unloaded.' }],
  [424, { message: 'The system encountered an unexpected error during processing.' }],
  [425, ''],
  [
    429,
    google('You exceeded your current quota.', [
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '36s' },
    ]),
    36_000,
  ],
  [
    429,
    openAi('Slow down'),
    6_500,
    {
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '6.5s',
      'x-ratelimit-remaining-requests': '9',
      'x-ratelimit-reset-requests': '50s',
    },
  ],
  [498, openAi('Flex tier capacity exceeded', 'capacity_exceeded')],
  [503, { detail: `${SAID} yet: loading` }],
  [529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }],
  [404, '<!DOCTYPE html><html><head><title>Tunnel offline</title></head><body>Tunnel offline</body></html>'],
  [502, '<html><head><title>502 Bad Gateway</title></head><body><center>nginx</center></body></html>'],
];

describe('an error of a provider', () => {
  const harness = useAskModel();

  for (const [name, body] of SHAPES)
    it(`is quoted in its own words, and no more (${name})`, async () => {
      harness.server.will(respond(400, body));
      await assert.rejects(harness.call(), (error: Error) => {
        assert.doesNotMatch(error.message, /[{}<>]|secret prompt/);
        return fails('MODEL_NOT_FOUND', /\(status 400\): .*llama-9 does not exist/)(error);
      });
    });

  for (const [status, body, code, said] of FINAL)
    it(`is ${code}, and final: ${status} ${JSON.stringify(body).slice(0, 120)}`, async () => {
      await assert.rejects(harness.callAfter(respond(status, body)), fails(code, said));
    });

  for (const [status, body, waitMs, headers] of PASSING)
    it(`is repeated: ${status} ${JSON.stringify(body).slice(0, 120)}`, () =>
      assert.rejects(harness.callAfter(respond(status, body, headers)), (error: unknown) => {
        assert.ok(error instanceof ModelUnavailable, String(error));
        assert.deepEqual([error.status, error.retryAfterMs], [status, waitMs]);
        return true;
      }));

  for (const [status, body] of [
    [400, openAi('Unexpected token 200002 while expecting start token 200006', '400', 'BadRequestError')],
    [400, openAi('unexpected tokens remaining in message header: Some("x")', '400', 'BadRequestError')],
    [424, { message: 'Model produced invalid sequence as part of ToolUse.' }],
    [400, openAi("Failed to call a function. See 'failed_generation' for more details.")],
    [
      400,
      openAi('1 validation error for list[FunctionDefinition]\n  Invalid JSON: EOF while parsing', '400'),
    ],
  ] as const)
    it(`is repeated as one of its model: ${status} ${JSON.stringify(body).slice(0, 120)}`, () =>
      assert.rejects(harness.callAfter(respond(status, body)), {
        name: 'ModelUnavailable',
        isUnreadable: true,
      }));

  it('is final where its header says so', () =>
    assert.rejects(
      harness.callAfter(respond(503, openAi('Odd'), { 'x-should-retry': 'false' })),
      fails('MODEL_UNAVAILABLE', /Odd/),
    ));

  it('is MODEL_SCHEMA_REFUSED where it names the parameters of a tool', async () => {
    const place = "'tools[0].function_declarations[0].parameters'";
    harness.server.will(respond(400, openAi(`Unknown name "additionalProperties" at ${place}`)));
    const tools = [{ type: 'function', function: { name: 'find' } } as const];
    await assert.rejects(
      harness.call({}, undefined, { tools }),
      fails('MODEL_SCHEMA_REFUSED', /Unknown name/),
    );
  });

  it('is quoted once where a page has it as its title and in its text', () =>
    assert.rejects(
      harness.callAfter(
        respond(502, '<html><head><title>Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>'),
      ),
      /\(status 502\): Bad Gateway$/,
    ));

  it('is repeated fewer times where a model has written something', () =>
    assert.rejects(harness.callAfter(respond(400, openAi('Failed', 'tool_use_failed'))), {
      isUnreadable: true,
    }));

  for (const [body, code] of [
    [{ error: "model 'llama-9' not found, try pulling it first" }, 'MODEL_NOT_FOUND'],
    [{ error: { message: 'No credits left', code: 402 } }, 'MODEL_QUOTA_EXCEEDED'],
    [{ base_resp: { status_code: 1004, status_msg: 'invalid api key' } }, 'MODEL_KEY_REJECTED'],
  ] as const)
    it(`means the same with status 200: ${JSON.stringify(body)}`, () =>
      assert.rejects(harness.callAfter(respond(200, body)), fails(code, /llama-9|credits|api key/)));

  for (const [name, said, hidden] of [
    ["the provider's key", 'Bad key key-of-the-test given', 'Bad key [key] given'],
    ['a bearer token', 'Sent Authorization: Bearer abcdef123456', /Sent Authorization: \[key\]$/],
    ['a key of another provider', 'Bad AIzaSyA1234567890abcdefg', 'Bad [key]'],
    ['part of a key', 'Bad key: abc****wxyz', 'Bad key: [key]'],
    [
      'the query of a URL',
      'No https://img.example/c.png?sig=abc%3D found',
      'No https://img.example/c.png?[query] found',
    ],
    ['a parameter', 'Bad api_key=abcdefgh1234.', /Bad api_key=\[key\]/],
  ] as const)
    it(`is quoted without ${name}`, () =>
      assert.rejects(harness.callAfter(respond(400, openAi(said))), ({ message }: Error) => {
        const quoted = message.slice(message.indexOf('): ') + 3);
        if (typeof hidden === 'string') assert.equal(quoted, hidden);
        else assert.match(quoted, hidden);
        return true;
      }));

  it('is quoted whole where the key is short enough to be part of a word', async () => {
    const begin = async () => ({ ...harness.server.provider, apiKey: 'k' });
    harness.server.will(respond(400, openAi('No thinking tokens left')));
    await assert.rejects(harness.call({}, undefined, { begin }), /: No thinking tokens left$/);
  });
});
