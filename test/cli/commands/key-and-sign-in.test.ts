// A key in the environment beside a session of weir login.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { LOCAL_ENVIRONMENT } from '../../../dev/state-folder.ts';
import type { Tenant, Weir } from '../../harness.ts';
import { createOrganization, type Organization } from '../../organization.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { fail, weirIn } from '../cli-harness.ts';

const USED = 'WEIR_API_KEY may not do this. The sign-in of weir login is used instead.\n';

describe('weir with WEIR_API_KEY and a session', () => {
  let weir: Weir;
  let acme: Organization;
  let tenant: Tenant;
  let folder: string;
  let env: { [name: string]: string };
  before(async () => {
    weir = await getSharedWeir();
    acme = await createOrganization(weir, (await getSharedWeir()).provider);
    tenant = await weir.createTenant();
    folder = await mkdtemp(path.join(tmpdir(), 'weir-session-'));
    const session = { issuer: 'https://i.test', clientId: 'c', audience: 'a', expiresAt: Date.now() * 2 };
    const services = { [weir.url]: { ...session, accessToken: acme.token.member } };
    await mkdir(path.join(folder, 'weir'));
    await writeFile(path.join(folder, 'weir/sessions.json'), JSON.stringify({ services }));
    const { key: WEIR_API_KEY } = tenant;
    env = { WEIR_STATE_DIR: '/nonexistent', XDG_CONFIG_HOME: folder, WEIR_URL: weir.url, WEIR_API_KEY };
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
    await weir.stop();
  });

  it('uses the sign-in, and says so, for what the key may not do', async () => {
    const { code, stdout, stderr } = await weirIn(env, ['flow', 'list', `${acme.organization}/project`]);
    assert.deepEqual([code, stderr], [0, USED], stdout);
    const members = await weirIn(env, ['member', 'list', acme.organization]);
    assert.deepEqual([members.code, members.stderr], [0, USED]);
  });

  it('uses the sign-in, and says so, for a flow of another project', async () => {
    const run = ['run', await weir.createFlow(acme, []), '--message', 'm', '--follow'];
    const { code, stderr } = await weirIn(env, run);
    const used = 'WEIR_API_KEY finds no such flow. The sign-in of weir login is used instead.\n';
    assert.equal(code, 0, stderr);
    assert.ok(stderr.startsWith(used), stderr);
    const alone = await fail(1, weirIn({ ...env, XDG_CONFIG_HOME: '/nonexistent' }, run));
    assert.match(alone, /WEIR_API_KEY was sent\. \(FLOW_NOT_FOUND/);
  });

  it('says that the key may be invalid where the service does not know it', async () => {
    const { stderr } = await weirIn({ ...env, WEIR_API_KEY: 'weir_test_x' }, ['whoami']);
    assert.match(
      stderr,
      /^WEIR_API_KEY is not valid, or may not do this\. The sign-in of weir login is used/,
    );
  });

  it('uses the key for what it may do, and weir whoami shows both', async () => {
    const { stdout, stderr } = await weirIn(env, ['whoami']);
    assert.match(stdout, RegExp(`^API key weir_live_${tenant.keyId} `));
    assert.match(
      stdout,
      /, with the API key in WEIR_API_KEY; for what the key may not do, the session of weir login$/m,
    );
    assert.equal(stderr, '');
    const shown = async (given: { [name: string]: string }) => {
      const { credential, signIn } = JSON.parse((await weirIn(given, ['whoami', '--json'])).stdout);
      return [credential, signIn];
    };
    assert.deepEqual(await shown(env), ['WEIR_API_KEY', 'weir login']);
    assert.deepEqual(await shown({ ...env, XDG_CONFIG_HOME: '/nonexistent' }), ['WEIR_API_KEY', undefined]);
  });

  it('has the sign-in of npm start beside the key, which weir whoami shows', async () => {
    const issuer = createServer((_request, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ access_token: acme.token.member, expires_in: 300 })),
    );
    await new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', resolve));
    const identity = {
      issuer: `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`,
      audience: 'a',
      scriptSecret: 's',
    };
    const local = { WEIR_URL: weir.url, WEIR_API_KEY: tenant.key, identity };
    await writeFile(path.join(folder, LOCAL_ENVIRONMENT), JSON.stringify(local));
    const started = { ...env, WEIR_STATE_DIR: folder, XDG_CONFIG_HOME: '/nonexistent' };
    const { stdout } = await weirIn(started, ['whoami']).finally(() => issuer.close());
    assert.match(stdout, /; for what the key may not do, the credential of the local npm start$/m);
  });

  it('says what was sent where the sign-in does not help: there is none, or it may not either', async () => {
    const list = ['flow', 'list', `${tenant.organization}/project`];
    const alone = await fail(1, weirIn({ ...env, XDG_CONFIG_HOME: '/nonexistent' }, list));
    assert.match(alone, /WEIR_API_KEY was sent\. \(FORBIDDEN/);
    const said = await fail(1, weirIn(env, list));
    assert.ok(said.startsWith(USED), said);
  });
});
