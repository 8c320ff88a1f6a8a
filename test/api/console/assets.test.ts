import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import { type ConsoleSite, serveConsole } from './console-harness.ts';

const SCRIPT = 'index-AbC_1-2.js';
const CODE = 'console.log("weir");\n'.repeat(1_000);
const FONT = 'mono-1.woff2';

describe('the assets of the console', () => {
  let site: ConsoleSite;
  beforeEach(async () => {
    site = await serveConsole({ [SCRIPT]: CODE, [FONT]: 'font', '.secret.js': 'secret' });
  });
  afterEach(() => site.close());

  type Answer = { status: number; headers: { [name: string]: string | string[] | undefined }; body: Buffer };
  /** Asks for a path as it stands, and leaves the body as it was sent. */
  const get = (where: string, headers: { [name: string]: string } = {}, method = 'GET') =>
    new Promise<Answer>((resolve, reject) => {
      const { hostname, port } = new URL(site.url);
      request({ hostname, port, path: where, headers, method }, async (answer) => {
        const body = Buffer.concat(await answer.toArray());
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body });
      })
        .on('error', reject)
        .end();
    });
  const asset = (name: string, headers?: { [name: string]: string }, method?: string) =>
    get(`/console/assets/${name}`, headers, method);

  it('are kept by browsers for good, since their names change with them', async () => {
    const { status, headers, body } = await asset(SCRIPT);
    assert.equal(status, 200);
    assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
    assert.equal(headers['content-type'], 'text/javascript; charset=utf-8');
    assert.equal(body.toString(), CODE);
  });

  for (const [accepted, encoding, decode] of [
    ['gzip, deflate, br', 'br', promisify(brotliDecompress)],
    ['gzip', 'gzip', promisify(gunzip)],
    ['br;q=0, gzip;q=0.5', 'gzip', promisify(gunzip)],
  ] as const)
    it(`are compressed with ${encoding} for a browser that accepts ${accepted}`, async () => {
      const { headers, body } = await asset(SCRIPT, { 'accept-encoding': accepted });
      assert.equal(headers['content-encoding'], encoding);
      assert.match(String(headers.vary), /Accept-Encoding/);
      assert.ok(body.length < CODE.length / 10);
      assert.equal((await decode(body)).toString(), CODE);
    });

  for (const accepted of ['identity', 'deflate', 'br;q=0, gzip;q=0', '*;q=0'])
    it(`are sent as they are for a browser that accepts ${accepted}`, async () => {
      const { headers, body } = await asset(SCRIPT, { 'accept-encoding': accepted });
      assert.equal(headers['content-encoding'], undefined);
      assert.match(String(headers.vary), /Accept-Encoding/);
      assert.equal(body.toString(), CODE);
    });

  it('are not compressed again where their format is', async () => {
    const { headers, body } = await asset(FONT, { 'accept-encoding': 'br' });
    assert.deepEqual([headers['content-encoding'], headers['content-type']], [undefined, 'font/woff2']);
    assert.equal(body.toString(), 'font');
  });

  it('are read and compressed once', async () => {
    await asset(SCRIPT, { 'accept-encoding': 'br' });
    rmSync(path.join(site.folder, 'assets', SCRIPT));
    const again = await asset(SCRIPT, { 'accept-encoding': 'br' });
    assert.equal((await promisify(brotliDecompress)(again.body)).toString(), CODE);
  });

  it('answer HEAD with the same headers and no body', async () => {
    const { status, headers, body } = await asset(SCRIPT, { 'accept-encoding': 'gzip' }, 'HEAD');
    assert.deepEqual([status, headers['content-encoding'], body.length], [200, 'gzip', 0]);
  });

  it('that are missing are 404 and not stored, and are found once they are there', async () => {
    const missing = await asset('later-1.js');
    assert.equal(missing.status, 404);
    assert.equal(missing.headers['cache-control'], undefined);
    writeFileSync(path.join(site.folder, 'assets', 'later-1.js'), 'later');
    assert.equal((await asset('later-1.js')).body.toString(), 'later');
  });

  for (const name of [
    '../index.html',
    '..%2findex.html',
    '%2e%2e%2findex.html',
    '..%5cindex.html',
    '/etc/passwd',
    '%2fetc%2fpasswd',
    '.secret.js',
    '.',
    '',
    '%00',
    `${SCRIPT}%00.css`,
    `x/../${SCRIPT}`,
    '__proto__',
    'a'.repeat(5_000),
  ])
    it(`are the only files that can be read: not ${name.slice(0, 30) || 'the folder'}`, async () => {
      assert.equal((await asset(name)).status, 404);
    });

  it('refuse other methods', async () => {
    assert.equal((await asset(SCRIPT, {}, 'POST')).status, 405);
  });
});
