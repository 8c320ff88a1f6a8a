import assert from 'node:assert/strict';
import { toError } from '../../../cli/api/to-error.ts';

describe('a refusal of the service, on the command line', () => {
  const service = { url: 'http://weir.example', credential: { token: 't', source: 'WEIR_TOKEN' as const } };
  const messageOf = (status: number, headers: { [name: string]: string }, answer: unknown) =>
    toError(service, new Response(null, { status, headers }), answer).message;

  it('has its code, the id of the request and Retry-After, also where the service cannot answer now', () => {
    const detail = { code: 'RATE_LIMITED', message: 'Too many requests.' };
    assert.equal(
      messageOf(429, { 'x-request-id': 'r1', 'retry-after': '7' }, { detail }),
      'http://weir.example answered 429: Too many requests. (RATE_LIMITED, request r1, Retry-After 7)',
    );
    assert.equal(
      messageOf(500, { 'x-request-id': 'r2' }, { detail: { code: 'INTERNAL_ERROR', message: 'No.' } }),
      'http://weir.example answered 500: No. (INTERNAL_ERROR, request r2)',
    );
    assert.equal(messageOf(404, {}, { detail: { code: 'NOT_FOUND', message: 'No.' } }), 'No. (NOT_FOUND)');
  });

  it('asks for the address where the answer is not that of Weir', () =>
    assert.match(
      messageOf(502, {}, undefined),
      /answered 502\. Is WEIR_URL the address of a Weir service\?/,
    ));
});
