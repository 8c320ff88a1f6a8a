// A key in the environment beside a session of weir login.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
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

  it('uses the key for what it may do', async () => {
    const { stdout, stderr } = await weirIn(env, ['whoami']);
    assert.match(stdout, RegExp(`^API key weir_live_${tenant.keyId} `));
    assert.equal(stderr, '');
  });

  it('says what was sent where the sign-in does not help: there is none, or it may not either', async () => {
    const list = ['flow', 'list', `${tenant.organization}/project`];
    const alone = await fail(1, weirIn({ ...env, XDG_CONFIG_HOME: '/nonexistent' }, list));
    assert.match(alone, /WEIR_API_KEY was sent\. \(FORBIDDEN/);
    const said = await fail(1, weirIn(env, list));
    assert.ok(said.startsWith(USED), said);
  });
});
