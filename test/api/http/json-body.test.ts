import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { BODY_MAX_BYTES } from '../../../api/http/receive-body.ts';
import { FLOW_STEPS_MAX, JSON_DEPTH_MAX } from '../../../flow/limits.ts';
import type { Tenant, Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';

describe('request bodies', () => {
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  before(async () => {
    weir = await getSharedWeir();
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, []);
  });
  after(() => weir.stop());

  const send = (raw: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
    weir.call('POST', `${flow}/execute`, {
      key: tenant.key,
      raw,
      headers: { 'content-type': 'application/json', ...headers },
    });
  const nested = (depth: number) =>
    `{"message":"","parameters":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`;

  const keys = (count: number) => Array.from({ length: count }, (_, i) => [`k${i}`, 1]);
  const large = (a: unknown) => JSON.stringify({ message: '', parameters: { a } });

  const refused: [string, string | Uint8Array<ArrayBuffer>, Record<string, string>, number, string][] = [
    ['malformed JSON', '{"message":', {}, 422, 'MALFORMED_JSON'],
    ['an empty body', '', {}, 422, 'MALFORMED_JSON'],
    ['invalid UTF-8', Uint8Array.from([0x22, 0xff, 0xfe, 0x22]), {}, 422, 'MALFORMED_JSON'],
    [
      'another content type',
      'message=x',
      { 'content-type': 'application/x-www-form-urlencoded' },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    [
      'another charset',
      '{}',
      { 'content-type': 'application/json; charset=utf-16' },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    ['a content encoding', '{}', { 'content-encoding': 'gzip' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['nesting past the limit', nested(JSON_DEPTH_MAX - 1), {}, 422, 'VALIDATION_ERROR'],
    ['very deep nesting', nested(1_000_000), {}, 422, 'VALIDATION_ERROR'],
    ['a __proto__ key', '{"message":"","parameters":{"__proto__":{}}}', {}, 422, 'VALIDATION_ERROR'],
    [
      'a constructor key with a prototype',
      '{"message":"","parameters":{"a":[{"constructor":{"prototype":1}}]}}',
      {},
      422,
      'VALIDATION_ERROR',
    ],
    [
      'millions of values',
      `{"message":"","parameters":{"a":[${'[],'.repeat(2_700_000)}1]}}`,
      {},
      422,
      'VALIDATION_ERROR',
    ],
    [
      'hundreds of thousands of keys',
      JSON.stringify({ message: '', parameters: Object.fromEntries(keys(600_000)) }),
      {},
      422,
      'VALIDATION_ERROR',
    ],
    [
      'a body past the size limit',
      JSON.stringify({ message: 'x'.repeat(BODY_MAX_BYTES) }),
      {},
      413,
      'BODY_TOO_LARGE',
    ],
  ];
  for (const [rule, raw, headers, status, code] of refused)
    it(`answers ${status} ${code} for ${rule}`, async () => {
      const answer = await send(raw, headers);
      assert.deepEqual([answer.status, answer.body.detail.code], [status, code]);
      assert.equal(typeof answer.body.detail.message, 'string');
    });

  it('names the field of a number that JSON text can hold and JSON values cannot', async () => {
    const answer = await send('{"message":"","parameters":{"a":[{"b":1e999}]}}');
    assert.deepEqual(
      [answer.status, answer.body.detail.errors],
      [422, [{ field: 'parameters.a.0.b', message: 'is a number too large for JSON' }]],
    );
  });

  it('refuses a whole number whose digits would be changed, and keeps those it can', async () => {
    const refused = await send('{"message":"","parameters":{"id":12345678901234567890}}');
    assert.deepEqual([refused.status, refused.body.detail.code], [422, 'VALIDATION_ERROR']);
    assert.match(refused.body.detail.message, /^parameters\.id: .*12345678901234567890.*send it as text/);
    assert.equal(
      (await send('{"message":"12345678901234567890","parameters":{"id":9007199254740991}}')).status,
      200,
    );
  });

  it('names a few of many problems', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, {}]));
    const answer = await send(JSON.stringify({ message: '', ...unknown }));
    assert.deepEqual([answer.status, answer.body.detail.errors.length], [422, 20]);
  });

  it('does not look into lists that are too long: overrides, events, tools', async () => {
    const overrides = Object.fromEntries(Array.from({ length: FLOW_STEPS_MAX + 1 }, (_, i) => [`k${i}`, 1]));
    const many = Array(100).fill(1);
    const long: [string, object, string][] = [
      ['execute', { message: '', block_overrides: overrides }, 'block_overrides'],
      ['jobs', { message: '', block_overrides: overrides }, 'block_overrides'],
      ['step', { stepIndex: 0, message: '', blockOverrides: overrides }, 'blockOverrides'],
      ['jobs', { message: '', callbackUrl: 'https://example.com', callbackEvents: many }, 'callbackEvents'],
      ['execute', { message: '', tools: many }, 'tools'],
    ];
    for (const [endpoint, body, field] of long) {
      const answer = await weir.call('POST', `${flow}/${endpoint}`, { key: tenant.key, body });
      assert.deepEqual(
        answer.body.detail.errors.map((error: { field: string }) => error.field),
        [field],
        endpoint,
      );
    }
  });

  it('refuses parameters and outputs that are not objects', async () => {
    for (const wrong of [[], 'x', 7])
      for (const [endpoint, field] of [
        ['execute', 'parameters'],
        ['step', 'accumulatedOutputs'],
      ] as const) {
        const body = { message: '', ...(endpoint === 'step' && { stepIndex: 0 }), [field]: wrong };
        const answer = await weir.call('POST', `${flow}/${endpoint}`, { key: tenant.key, body });
        assert.deepEqual(
          [answer.status, answer.body.detail.errors],
          [422, [{ field, message: 'must be an object' }]],
        );
      }
  });

  const accepted: [string, string, Record<string, string>][] = [
    ['hundreds of thousands of numbers', large(Array.from({ length: 400_000 }, (_, i) => i / 7)), {}],
    ['tens of thousands of rows', large(Array(40_000).fill(Object.fromEntries(keys(10)))), {}],
    ['tens of thousands of keys', large(Object.fromEntries(keys(90_000))), {}],
    ['a charset of utf-8', '{"message":"é"}', { 'content-type': 'application/json; charset="UTF-8"' }],
    ['nesting at the limit', nested(JSON_DEPTH_MAX - 2), {}],
    ['a body at the size limit', JSON.stringify({ message: 'x'.repeat(BODY_MAX_BYTES - 14) }), {}],
  ];
  for (const [rule, raw, headers] of accepted)
    it(`accepts ${rule}`, async () => assert.equal((await send(raw, headers)).status, 200));

  it('accepts a body without a length, in chunks of one byte', async () => {
    const message = 'abcdefghij'.repeat(20_000);
    const chunks = Array.from(JSON.stringify({ message }), (byte) => `1\r\n${byte}\r\n`).join('');
    const socket = connect(Number(new URL(weir.url).port), '127.0.0.1');
    socket.write(
      `POST /api/v1/seq/${flow}/execute HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${chunks}0\r\n\r\n`,
    );
    const answer = await text(socket);
    assert.match(answer, /^HTTP\/1\.1 200 /);
    assert(answer.includes(JSON.stringify(message)));
  });

  for (const [rule, header, status] of [
    ['too large', 'Authorization: Bearer KEY', 413],
    ['of nobody', 'X-No: key', 401],
  ] as const)
    it(`reads a body on that is ${rule}, so that a caller who sends all of it first gets its ${status}`, async () => {
      const bytes = 2 * BODY_MAX_BYTES;
      const socket = connect(Number(new URL(weir.url).port), '127.0.0.1');
      const failed = once(socket, 'error').then(([error]) => Promise.reject(error));
      failed.catch(() => undefined);
      socket.pause();
      socket.write(
        `POST /api/v1/seq/${flow}/execute HTTP/1.1\r\nHost: x\r\n${header.replace('KEY', tenant.key)}\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\nConnection: close\r\n\r\n`,
      );
      const piece = Buffer.alloc(64 * 1024, ' ');
      for (let sent = 0; sent < bytes; sent += piece.length)
        await Promise.race([failed, new Promise((written) => socket.write(piece, written))]);
      const answer = await Promise.race([failed, text(socket)]);
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `));
      const [, body = ''] = answer.split('\r\n\r\n');
      assert.equal(typeof JSON.parse(body).detail.code, 'string');
    });

  it('reads on up to 64 MiB of a body that is refused, and then closes the connection', async () => {
    const [mostBytes, bytes] = [64 * 1024 * 1024, 128 * 1024 * 1024];
    const socket = connect(Number(new URL(weir.url).port), '127.0.0.1');
    const closed = new Promise((resolve) => socket.on('error', () => undefined).once('close', resolve));
    const answer = once(socket, 'data');
    socket.write(
      `POST /api/v1/seq/${flow}/execute HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.key}\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`,
    );
    assert.match(String(await answer), /^HTTP\/1\.1 413 /);
    const piece = Buffer.alloc(64 * 1024, ' ');
    let sent = 0;
    for (; sent < bytes && !socket.destroyed; sent += piece.length)
      await Promise.race([closed, new Promise((written) => socket.write(piece, written))]);
    assert.ok(sent > mostBytes && sent < bytes, `${sent} bytes were sent`);
  });

  it('answers 400 in the usual shape for requests that are not HTTP', async () => {
    const socket = connect(Number(new URL(weir.url).port), '127.0.0.1');
    socket.end('GARBAGE\r\n\r\n');
    const answer = await text(socket);
    assert.match(answer, /^HTTP\/1\.1 400 /);
    assert.match(answer, /\{"detail":\{"code":"BAD_REQUEST"/);
  });

  it('answers 404 NOT_FOUND for an unknown path and 405 METHOD_NOT_ALLOWED for another method', async () => {
    const unknown = await fetch(`${weir.url}/api/v1/nothing`);
    assert.deepEqual(
      [unknown.status, ((await unknown.json()) as { detail: { code: string } }).detail.code],
      [404, 'NOT_FOUND'],
    );
    const method = await weir.call('PUT', `${flow}/execute`, { key: tenant.key, body: {} });
    assert.deepEqual([method.status, method.body.detail.code], [405, 'METHOD_NOT_ALLOWED']);
    assert.equal(method.headers.get('allow'), 'POST');
  });

  it('answers a path with a broken percent-encoding like any unknown one', async () => {
    const answer = await weir.call('POST', 'a/b/%zz/execute', { key: tenant.key, body: { message: '' } });
    assert([400, 404].includes(answer.status), String(answer.status));
    assert.equal(typeof answer.body.detail.code, 'string');
  });
});
