import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import { type ConsoleSite, serveConsole } from './console-harness.ts';

describe('the page of the console', () => {
  let site: ConsoleSite;
  beforeEach(async () => {
    site = await serveConsole();
  });
  afterEach(() => site.close());

  const get = (where: string) => fetch(site.url + where, { redirect: 'manual' });
  /** The directives of an answer's policy. */
  const policyOf = ({ headers }: Response) =>
    Object.fromEntries(
      (headers.get('content-security-policy') ?? '').split('; ').map((directive) => {
        const [name = '', ...sources] = directive.split(' ');
        return [name, sources.join(' ')];
      }),
    );

  for (const where of [
    '/console',
    '/console/',
    '/console/signed-in?code=1&state=2',
    '/console/orgs/demo/projects/demo',
    '/console/a/b.c',
    '/console/%2e%2e%2fetc/passwd',
  ])
    it(`answers ${where}`, async () => {
      const answer = await get(where);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
      assert.match(await answer.text(), /<script type="module"/);
    });

  for (const [name, value] of [
    ['cache-control', 'no-store'],
    ['x-frame-options', 'DENY'],
    ['referrer-policy', 'no-referrer'],
    ['cross-origin-opener-policy', 'same-origin'],
    ['cross-origin-resource-policy', 'same-origin'],
  ] as const)
    it(`has the header ${name}: ${value}`, async () => {
      assert.equal((await get('/console/')).headers.get(name), value);
    });

  it('may use no camera, microphone, location, payment or device', async () => {
    const denied = (await get('/console/')).headers.get('permissions-policy') ?? '';
    for (const feature of ['camera', 'microphone', 'geolocation', 'payment', 'usb'])
      assert.ok(denied.includes(`${feature}=()`), denied);
  });

  it('runs its own scripts only, is framed nowhere, and sends no forms', async () => {
    const { 'style-src': styles, ...rest } = policyOf(await get('/console/'));
    assert.match(styles ?? '', /^'self' 'nonce-[\w+/=]+'$/);
    assert.deepEqual(rest, {
      'default-src': "'none'",
      'script-src': "'self'",
      'img-src': "'self' data: blob:",
      'font-src': "'self'",
      'connect-src': "'self'",
      'form-action': "'none'",
      'base-uri': "'none'",
      'frame-ancestors': "'none'",
    });
  });

  it('has a nonce of its own in each answer, the same in the page as in the policy, and is not stored', async () => {
    const nonces = await Promise.all(
      ['/console/', '/console/'].map(async (where) => {
        const answer = await get(where);
        const nonce = /'nonce-([^']+)'/.exec(answer.headers.get('content-security-policy') ?? '')?.[1] ?? '';
        const page = await answer.text();
        assert.equal(page.split(`nonce="${nonce}"`).length, 3, page);
        assert.ok(!page.includes('__CSP_NONCE__'));
        return nonce;
      }),
    );
    assert.equal(new Set(nonces).size, 2);
    assert.equal(Buffer.from(nonces[0] ?? '', 'base64').length, 16);
  });

  it('answers HEAD with the same headers and no body', async () => {
    const answer = await fetch(`${site.url}/console/runs`, { method: 'HEAD' });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('x-frame-options'), 'DENY');
    assert.equal(await answer.text(), '');
  });

  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH'])
    it(`refuses ${method}`, async () => {
      const answer = await fetch(`${site.url}/console/signed-in`, { method });
      assert.equal(answer.status, 405);
      assert.match(answer.headers.get('allow') ?? '', /GET/);
    });

  it('says how to build the console where that was not done, and is there once it was', async () => {
    const file = path.join(site.folder, 'index.html');
    rmSync(file);
    const missing = await get('/console/runs');
    assert.equal(missing.status, 503);
    assert.match(await missing.text(), /npm run console:build/);
    assert.equal(missing.headers.get('x-frame-options'), 'DENY');
    writeFileSync(file, '<!doctype html>');
    assert.equal((await get('/console/runs')).status, 200);
  });

  describe('asked for as localhost', () => {
    /** Asks with a Host of its own, and answers where it is led to. */
    const leadsTo = (at: ConsoleSite, host: string, where = '/console/runs?flow=a%20b') =>
      new Promise<string | undefined>((resolve, reject) => {
        request(at.url, { path: where, headers: { host } }, (answer) => {
          answer.resume();
          resolve(answer.headers.location);
        })
          .on('error', reject)
          .end();
      });
    const LOCAL = { WEIR_OIDC_ISSUER: 'http://127.0.0.1:1', WEIR_CONSOLE_CLIENT_ID: 'a-client' };
    const sites: ConsoleSite[] = [];
    const siteOf = async (env: { [name: string]: string }) => {
      const made = await serveConsole({}, env);
      sites.push(made);
      return made;
    };
    afterEach(() => {
      for (const made of sites.splice(0)) made.close();
    });

    it('leads to 127.0.0.1 where users sign in there: another user may listen to localhost', async () => {
      const local = await siteOf(LOCAL);
      const there = 'http://127.0.0.1:8787/console/runs?flow=a%20b';
      assert.equal(await leadsTo(local, 'localhost:8787'), there);
      assert.equal(await leadsTo(local, '[::1]:8787'), there);
      assert.equal(await leadsTo(local, '127.0.0.1:8787'), undefined);
      assert.equal(await leadsTo(local, 'weir.example'), undefined);
    });

    it('leads to this service also where the request names a whole URL', async () => {
      const site = await siteOf(LOCAL);
      const whole = 'http://evil.example/console/runs?flow=a';
      assert.equal(await leadsTo(site, 'localhost:8787', whole), 'http://127.0.0.1:8787/console/runs?flow=a');
    });

    it('stays where users sign in elsewhere, where a public URL is set, and where the service listens elsewhere', async () => {
      for (const env of [
        { ...LOCAL, WEIR_OIDC_ISSUER: 'http://localhost:1' },
        { ...LOCAL, WEIR_PUBLIC_URL: 'http://localhost:8787' },
        { ...LOCAL, WEIR_HOST: '::1' },
      ])
        assert.equal(await leadsTo(await siteOf(env), 'localhost:8787'), undefined);
    });
  });
});
