import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { writeState } from '../../../dev/state-folder.ts';
import { type SignInWeir, startSignInWeir } from '../../api/mcp/sign-in-harness.ts';
import { consent, createBrowser } from '../../fakes/browser.ts';
import { fail, ROOT, spawnWeir } from '../cli-harness.ts';

describe('weir login', () => {
  let service: SignInWeir;
  let folder: string;
  let url: string;
  /** How far the clock of used refresh tokens is ahead, in milliseconds. */
  let ahead = 0;
  before(async () => {
    const env = { WEIR_CLI_CLIENT_ID: 'weir-cli', WEIR_CLI_SCOPES: 'openid manage' };
    service = await startSignInWeir({ worker: false, env, now: () => Date.now() + ahead });
    url = service.weir.url;
  });
  after(() => service.stop());
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'weir-login-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const laptop = () => ({ XDG_CONFIG_HOME: folder, WEIR_STATE_DIR: '/nonexistent' });
  const weir = (...args: string[]) => spawnWeir(laptop(), args);
  const file = () => path.join(folder, 'weir/sessions.json');
  const stored = () => JSON.parse(readFileSync(file(), 'utf8'));

  /** Starts a command that asks for a browser; answers the address once it is printed, and how the command ends. */
  async function begin(args: string[], env: { [name: string]: string } = {}) {
    const { NODE_COMPILE_CACHE } = process.env;
    const child = spawn(process.execPath, [path.join(ROOT, 'cli/weir.js'), ...args], {
      env: { ...laptop(), NODE_COMPILE_CACHE, ...env },
    });
    let stderr = '';
    const address = new Promise<string>((resolve, reject) => {
      child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
        stderr += chunk;
        const found = /[Oo]pen (http\S+)[\s\S]*Waiting …/.exec(stderr)?.[1];
        if (found) resolve(found);
      });
      child.on('exit', () => reject(new Error(`It ended without asking: ${stderr}`)));
    });
    const stdout = text(child.stdout);
    const code = new Promise<number | null>((resolve) => child.on('close', resolve));
    const ended = async () => ({ code: await code, stdout: await stdout, stderr });
    return { child, address: await address, ended };
  }
  const beginInBrowser = () => begin(['login', url], { BROWSER: '/bin/true' });

  async function signIn() {
    const { address, ended } = await beginInBrowser();
    const back = await consent(createBrowser(service.identity.issuer), address, service.account);
    const page = await fetch(back);
    assert.match(await page.text(), /You are signed in to Weir/);
    const { code, stdout, stderr } = await ended();
    assert.deepEqual([code, stdout], [0, `Signed in to ${url} as member@weir.local.\n`]);
    const { accessToken, refreshToken } = stored().services[url];
    for (const token of [accessToken, refreshToken])
      assert.equal(`${stdout}${stderr}`.includes(token), false);
    return { stderr };
  }

  it('signs in with a browser on this machine, and later commands need nothing but its session', async () => {
    await signIn();
    assert.equal(statSync(file()).mode & 0o777, 0o600);
    assert.equal(statSync(path.dirname(file())).mode & 0o777, 0o700);
    const { stdout } = await weir('whoami', '--json');
    const { credential, userId, organizations } = JSON.parse(stdout);
    assert.deepEqual([credential, userId], ['weir login', 'dev-member']);
    assert.equal((await weir('token')).stdout, `${stored().services[url].accessToken}\n`);
    assert.deepEqual(
      organizations.map(({ slug }: { slug: string }) => slug),
      [service.tenant.organization],
    );
  });

  it('takes no answer of another sign-in, and says when the user refused this one', async () => {
    const { address, ended } = await beginInBrowser();
    const { redirect_uri = '', state = '' } = Object.fromEntries(new URL(address).searchParams);
    const forged = await fetch(`${redirect_uri}?code=stolen&state=other`);
    assert.deepEqual([forged.status, /another sign-in/.test(await forged.text())], [400, true]);
    assert.equal((await fetch(new URL('/favicon.ico', redirect_uri))).status, 404);
    const { issuer } = service.identity;
    const refused = await fetch(
      `${redirect_uri}?${new URLSearchParams({ error: 'access_denied', state, iss: issuer })}`,
    );
    assert.match(await refused.text(), /You are not signed in/);
    assert.equal(
      await fail(
        1,
        ended().then((outcome) => ({ ...outcome, stderr: outcome.stderr.split('\n').slice(-2).join('\n') })),
      ),
      `The identity provider at ${issuer} gave no token: the sign-in was refused in the browser.\n`,
    );
    assert.match(await fail(1, weir('whoami')), /^No service is known\. Sign in/);
  });

  it('ends although the browser holds connections on which it sends nothing, or half a request', async () => {
    const { address, ended } = await beginInBrowser();
    const { port } = new URL(new URL(address).searchParams.get('redirect_uri') ?? '');
    const sockets = [connect(Number(port), '127.0.0.1'), connect(Number(port), '127.0.0.1')];
    for (const socket of sockets) {
      socket.on('error', () => undefined);
      await once(socket, 'connect');
    }
    sockets[1]?.write('GET /callback HTTP/1.1\r\n');
    const back = await consent(createBrowser(service.identity.issuer), address, service.account);
    const tabs = [1, 2].map(() =>
      fetch(back)
        .then((page) => page.text())
        .catch(() => 'gone'),
    );
    const { code, stdout } = await ended();
    assert.deepEqual([code, stdout], [0, `Signed in to ${url} as member@weir.local.\n`]);
    const pages = (await Promise.all(tabs)).filter((page) => page.includes('You are signed in to Weir'));
    assert.equal(pages.length, 1);
    for (const socket of sockets) socket.destroy();
  });

  it('says before the sign-in that the sessions cannot be kept', async () => {
    writeFileSync(path.join(folder, 'weir'), 'a file in the place of the folder');
    assert.match(await fail(1, weir('login', url)), /^No session can be kept in \S+weir \(/);
  });

  const broken: [what: string, make: () => void, why: RegExp][] = [
    ['that is not JSON', () => writeFileSync(file(), '{"accessToken": secret'), /it is not JSON/],
    ['of another form', () => writeFileSync(file(), '{"services":{"http://x":"secret"}}'), /another form/],
    ['that is a folder', () => mkdirSync(path.join(file(), 'secret'), { recursive: true }), /it is a folder/],
  ];
  for (const [what, make, why] of broken)
    it(`replaces a session file ${what}, about which other commands say what to do`, async () => {
      mkdirSync(path.join(folder, 'weir'));
      make();
      for (const command of ['whoami', 'logout']) {
        const said = await fail(1, weir(command));
        assert.match(said, /sessions\.json cannot be read as the sessions of weir login: /);
        assert.match(said, why);
        assert.match(said, /\. Sign in again with weir login, which replaces it\./);
        assert.doesNotMatch(said, /secret/);
      }
      assert.match((await signIn()).stderr, /It is replaced once you are signed in\.\n/);
      assert.deepEqual(Object.keys(stored().services), [url]);
      assert.equal((await weir('whoami')).code, 0);
      rmSync(file());
      make();
      await signIn();
    });

  it('signs in by a code where no browser can be opened', async () => {
    const { address, ended } = await begin(['login', url]);
    const browser = createBrowser(service.identity.issuer);
    await browser.open(address);
    for (let page = await browser.submit('/device'); !page.text.includes('Email'); )
      page = await browser.submit('/device');
    await browser.submit('/login', service.account);
    await browser.submit('/confirm');
    const { code, stderr } = await ended();
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^No browser can be opened here\.\nOpen http\S+ in a browser on any machine/);
    assert.equal((await weir('whoami')).code, 0);
  });

  it('says so when it is interrupted, and stores nothing', async () => {
    const { child, ended } = await beginInBrowser();
    child.kill('SIGINT');
    const { code, stderr } = await ended();
    assert.equal(code, 130);
    assert.match(stderr, /You are not signed in: the sign-in was interrupted\.\n$/);
    assert.throws(stored, /ENOENT/);
  });

  it('renews the session for commands that run at once, each refresh token used once', async () => {
    await signIn();
    const before = stored();
    before.services[url].expiresAt = 0;
    writeFileSync(file(), JSON.stringify(before));
    for (const { code, stderr } of await Promise.all([1, 2, 3].map(() => weir('whoami'))))
      assert.equal(code, 0, stderr);
    const renewed = stored().services[url];
    assert.notEqual(renewed.refreshToken, before.services[url].refreshToken);

    writeFileSync(file(), JSON.stringify(before));
    // A lost answer can be repeated for 30 seconds.
    ahead = 30_000;
    assert.match(
      await fail(1, weir('whoami')),
      /^Your session at \S+ has ended\. Sign in again: weir login http/,
    );
  });

  it('ends with weir logout, at the identity provider too', async () => {
    await signIn();
    const session = stored();
    assert.equal((await weir('logout')).stdout, `Signed out of ${url}.\n`);
    assert.deepEqual(stored(), { services: {} });
    assert.equal((await weir('logout', url)).stdout, `You had no session at ${url}.\n`);
    session.services[url].expiresAt = 0;
    writeFileSync(file(), JSON.stringify(session));
    assert.match(await fail(1, weir('whoami')), /^Your session at \S+ has ended/);
  });

  it('says at weir logout with what commands go on', async () => {
    const identity = { issuer: '', scriptSecret: '', audience: '', mcpAudience: '' };
    writeState(folder, 'env.json', { WEIR_URL: url, WEIR_API_KEY: 'weir_live_demo', identity });
    const logout = async (env = {}) =>
      (await spawnWeir({ ...laptop(), WEIR_STATE_DIR: folder, ...env }, ['logout', url])).stderr;
    assert.equal(
      await logout(),
      `Commands go on as weir-script, an owner of the organization demo, at the local npm start (${url}).\n`,
    );
    assert.equal(await logout({ WEIR_TOKEN: 'a.b.c' }), 'Commands go on with WEIR_TOKEN, which is set.\n');
    assert.equal(await logout({ WEIR_STATE_DIR: '/nonexistent' }), '');
  });
});
