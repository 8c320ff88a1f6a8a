import assert from 'node:assert/strict';
import { ATTACHMENTS_MAX, FILENAME_MAX_LENGTH } from '../../../api/runs/run-shapes/attachments.ts';
import { URL_MAX_LENGTH } from '../../../platform/net/parse-https-url.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';

const HOST = 'https://images.example';
const png = { kind: 'url', url: `${HOST}/cat.png`, mime_type: 'image/png' };
/** Makes a URL of exactly so many characters. */
const urlOf = (length: number) => `${HOST}/${'a'.repeat(length - HOST.length - 1)}`;

describe('attachments that are refused', () => {
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  before(async () => {
    const WEIR_TEST_DIAL_MAP = JSON.stringify({ 'images.example': '127.0.0.1:9' });
    weir = await startWeir({ worker: false, env: { WEIR_TEST_DIAL_MAP } });
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, []);
  });
  after(() => weir.stop());

  const send = (endpoint: string, attachments: unknown) =>
    weir.call('POST', `${flow}/${endpoint}`, { key: tenant.key, body: { message: '', attachments } });

  describe('400', () => {
    const refused: [string, string, unknown[], number][] = [
      ['ATTACHMENT_LIMIT_EXCEEDED', 'one too many', Array(ATTACHMENTS_MAX + 1).fill(png), 10],
      ['ATTACHMENT_LIMIT_EXCEEDED', 'as many as a body may hold', Array(400_000).fill(0), 10],
      ...[
        'http://images.example/a.png',
        'data:image/png;base64,AAAA',
        'blob:https://images.example/0',
        '',
        'cat.png',
        'ftp://images.example/a.png',
        '//images.example/a.png',
        'https://',
        'https://a b/',
        'https://u:p@images.example/',
        'https://images.example\\@127.0.0.1/',
        'https://images.example:0/',
        'https://images.example/\u0000',
        `data:image/png;base64,${'A'.repeat(URL_MAX_LENGTH)}`,
        null,
        7,
        { href: HOST },
        undefined,
      ].map((url): [string, string, unknown[], number] => [
        'ATTACHMENT_INVALID_SCHEME',
        `the URL ${JSON.stringify(url)?.slice(0, 40)}`,
        [png, { ...png, url }],
        1,
      ]),
      ['ATTACHMENT_URL_TOO_LONG', 'one character too many', [{ ...png, url: urlOf(URL_MAX_LENGTH + 1) }], 0],
      ...['image/PNG', 'image/svg+xml', 'application/pdf', 'image/png; q=1', '', null, 1, undefined].map(
        (mime_type): [string, string, unknown[], number] => [
          'ATTACHMENT_UNSUPPORTED_MIME',
          `the MIME type ${JSON.stringify(mime_type)}`,
          [{ ...png, mime_type }],
          0,
        ],
      ),
      ...[
        'a'.repeat(FILENAME_MAX_LENGTH + 1),
        '😀'.repeat(FILENAME_MAX_LENGTH + 1),
        'a'.repeat(5_000_000),
        '../a',
        'a..b',
        '..',
        'a/b',
        'a\\b',
        '/',
        7,
      ].map((filename): [string, string, unknown[], number] => [
        'ATTACHMENT_INVALID_FILENAME',
        `the filename ${JSON.stringify(filename).slice(0, 20)}`,
        [png, png, { ...png, filename }],
        2,
      ]),
      ...['base64', 'URL', '', null, undefined, ['url']].map((kind): [string, string, unknown[], number] => [
        'ATTACHMENT_UNSUPPORTED_KIND',
        `the kind ${JSON.stringify(kind)}`,
        [{ ...png, kind, data: 'AAAA' }],
        0,
      ]),
      ...[
        '127.0.0.1',
        '2130706433',
        '0x7f.1',
        '017700000001',
        '10.0.0.1',
        '169.254.169.254',
        '[::1]',
        'localhost',
        '[::ffff:127.0.0.1]',
        '[64:ff9b::7f00:1]',
        '[fd00::1]',
        '[fe80::1]',
        'localhost.',
        'a.localhost',
        'postgres',
        'metadata.google.internal',
      ].map((host): [string, string, unknown[], number] => [
        'ATTACHMENT_BLOCKED_HOST',
        `the host ${host}`,
        [png, { ...png, url: `https://${host}/cat.png` }],
        1,
      ]),
    ];
    for (const [expected, name, attachments, index] of refused)
      it(`answers ${expected} for ${name}`, async () => {
        for (const endpoint of ['execute', 'jobs']) {
          const { status, body } = await send(endpoint, attachments);
          assert.deepEqual([status, body.detail.code, body.detail.index], [400, expected, index]);
        }
      });
  });

  it('says all that is wrong with an attachment, also which field was probably meant', async () => {
    const { mime_type: mimeType, ...rest } = png;
    const { body } = await send('execute', [{ ...rest, kind: 'URL', mimeType }]);
    assert.equal(
      body.detail.message,
      'attachments.0.kind: must be "url"; attachments.0.mime_type: must be one of image/jpeg, image/png, image/webp, image/gif; attachments.0.mimeType: is not a known field: did you mean mime_type?',
    );
  });

  describe('422', () => {
    const malformed: [string, unknown, string][] = [
      ['a list that is an object', {}, 'attachments'],
      ['an attachment that is a string', [png, png.url], 'attachments.1'],
      ['an attachment that is null', [null], 'attachments.0'],
      ['an unknown field', [{ ...png, size: 1 }], 'attachments.0.size'],
    ];
    for (const [name, attachments, field] of malformed)
      it(`names the place of ${name}`, async () => {
        const { status, body } = await send('execute', attachments);
        assert.deepEqual([status, body.detail.code], [422, 'VALIDATION_ERROR']);
        assert.deepEqual(
          body.detail.errors.map((error: { field: string }) => error.field),
          [field],
        );
      });
  });
});
