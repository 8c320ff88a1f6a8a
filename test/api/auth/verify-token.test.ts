import assert from 'node:assert/strict';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { createTokenVerifier } from '../../../api/auth/verify-token.ts';
import type { Role } from '../../../db/schema.ts';
import { insertMember } from '../../../db/tenants/memberships.ts';
import {
  AUDIENCE,
  type IdentityProvider,
  MCP_AUDIENCE,
  startIdentityProvider,
} from '../../fakes/identity-provider.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';

describe('JWTs of an identity provider', () => {
  let provider: IdentityProvider;
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  before(async () => {
    provider = await startIdentityProvider(['script']);
    weir = await startWeir({ env: provider.env, worker: false });
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, []);
    await join('member');
    await join('script');
  });
  after(async () => {
    await weir.stop();
    await provider.close();
  });

  const join = (userId: string, role: Role = 'member', { organizationId } = tenant) =>
    insertMember(weir.db, { organizationId, userId, role });
  const start = (key: string | undefined, path = flow) =>
    weir.call('POST', `${path}/jobs`, { key, body: { message: '' } });
  const now = () => Math.floor(Date.now() / 1000);

  it('run flows of the organizations their user is a member of, in any role, as live runs', async () => {
    for (const role of ['owner', 'admin', 'member'] as const) {
      await join(`runs-${role}`, role);
      const key = await provider.token(`runs-${role}`);
      const { status, body } = await start(key);
      assert.equal(status, 202);
      const run = await weir.call('GET', `${flow}/jobs/${body.executionId}`, { key });
      assert.deepEqual([run.status, run.body.environment], [200, 'live']);
    }
  });

  it('are accepted as the provider itself issues them', async () => {
    assert.equal((await start(await provider.issue('script', AUDIENCE))).status, 202);
    assert.equal((await start(await provider.issue('script', MCP_AUDIENCE))).status, 401);
  });

  it('may be of any type that access tokens have', async () => {
    for (const typ of ['JWT', 'jwt', 'at+jwt', 'application/at+jwt'])
      assert.equal((await start(await provider.token('member', {}, { typ }))).status, 202, typ);
  });

  it('name their scopes in scope or scp, as text or as a list', async () => {
    const verifier = createTokenVerifier(weir.config);
    const table: [object, string[]][] = [
      [{ scope: 'flows:read  flows:run' }, ['flows:read', 'flows:run']],
      [{ scope: ['flows:read'] }, ['flows:read']],
      [{ scp: 'flows:read flows:run' }, ['flows:read', 'flows:run']],
      [{ scp: ['flows:read'], scope: 'flows:run' }, ['flows:run', 'flows:read']],
      [{ scp: 7, scope: { a: 1 } }, []],
      [{}, []],
    ];
    for (const [claims, scopes] of table) {
      const token = await provider.token('member', { scope: undefined, ...claims });
      assert.deepEqual((await verifier.verify(token, [AUDIENCE]))?.scopes, scopes, JSON.stringify(claims));
    }
  });

  it('are accepted from clocks that differ by less than 10 s', async () => {
    assert.equal((await start(await provider.token('member', { exp: now() - 1 }))).status, 202);
    assert.equal((await start(await provider.token('member', { nbf: now() + 8 }))).status, 202);
  });

  it('answer the same 404 for a flow of another organization as for an unknown one', async () => {
    const other = await weir.createTenant();
    const foreign = await weir.createFlow(other, []);
    const key = await provider.token('member');
    const answers = [await start(key, foreign), await start(key, `${other.organization}/project/none`)];
    assert.equal(answers[0]?.status, 404);
    assert.equal(answers[0]?.body.detail.code, 'FLOW_NOT_FOUND');
    assert.deepEqual(answers[0]?.body, answers[1]?.body);
  });

  it('stop working for an organization the moment the membership ends', async () => {
    await join('leaver');
    const key = await provider.token('leaver');
    assert.equal((await start(key)).status, 202);
    await weir.db.deleteFrom('membership').where('user_id', '=', 'leaver').execute();
    assert.equal((await start(key)).status, 404);
  });

  it('take part in Idempotency-Keys like API keys', async () => {
    const request = {
      key: await provider.token('member'),
      body: { message: 'once' },
      headers: { 'idempotency-key': 'user-1' },
    };
    const first = await weir.call('POST', `${flow}/jobs`, request);
    const again = await weir.call('POST', `${flow}/jobs`, request);
    assert.equal(again.body.executionId, first.body.executionId);
  });

  it('are rate limited by user', async () => {
    const limited = await startWeir({
      env: { ...provider.env, WEIR_RATE_LIMIT_PER_KEY: '1' },
      worker: false,
    });
    try {
      const call = async (userId: string) =>
        limited.call('GET', 'a/b/c/jobs/d', { key: await provider.token(userId) });
      assert.deepEqual([(await call('one')).status, (await call('two')).status], [404, 404]);
      const answer = await call('one');
      assert.equal(answer.status, 429);
      assert.match(answer.body.detail.message, /^The user is over its 1 requests/);
    } finally {
      await limited.stop();
    }
  });

  describe('401', () => {
    let unknownKey: unknown;
    before(async () => {
      unknownKey = (await start(`weir_live_AAAAAAAA_${'A'.repeat(32)}`)).body;
    });
    const hostile: { [what: string]: () => Promise<string> } = {
      'without a signature': async () =>
        new UnsecuredJWT({ iss: provider.issuer, aud: AUDIENCE, sub: 'member', exp: now() + 60 }).encode(),
      'signed by HMAC with the public key': async () => {
        const secret = new TextEncoder().encode(await exportSPKI(provider.publicKey));
        return new SignJWT({ iss: provider.issuer, aud: AUDIENCE, sub: 'member', exp: now() + 60 })
          .setProtectedHeader({ alg: 'HS256', kid: 'test-key' })
          .sign(secret);
      },
      'signed by a key of its own, sent along as jwk': async () => {
        const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
        return new SignJWT({ iss: provider.issuer, aud: AUDIENCE, sub: 'member', exp: now() + 60 })
          .setProtectedHeader({ alg: 'ES256', jwk: await exportJWK(publicKey) })
          .sign(privateKey);
      },
      'signed by an unknown key under the kid of a known one': async () => {
        const { privateKey } = await generateKeyPair('ES256');
        return new SignJWT({ iss: provider.issuer, aud: AUDIENCE, sub: 'member', exp: now() + 60 })
          .setProtectedHeader({ alg: 'ES256', kid: 'test-key' })
          .sign(privateKey);
      },
      'with a kid that is a path': () => provider.token('member', {}, { kid: '../../etc/passwd' }),
      'of the type of a logout token': () => provider.token('member', {}, { typ: 'logout+jwt' }),
      'of the type of a security event': () => provider.token('member', {}, { typ: 'secevent+jwt' }),
      'whose type is not text': () => provider.token('member', {}, { typ: 5 as never }),
      'of clocks that differ by 15 s': () => provider.token('member', { exp: now() - 15 }),
      'with a critical header nobody knows': async () => {
        const [, payload, signature] = (await provider.token('member')).split('.');
        const header = { alg: 'ES256', kid: 'test-key', crit: ['x'], x: 1 };
        return `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${payload}.${signature}`;
      },
      'with a changed payload': async () => {
        const [header, , signature] = (await provider.token('member')).split('.');
        const payload = { iss: provider.issuer, aud: AUDIENCE, sub: 'owner', exp: now() + 60 };
        return `${header}.${Buffer.from(JSON.stringify(payload)).toString('base64url')}.${signature}`;
      },
      'for another audience': () => provider.token('member', { aud: 'https://other.test' }),
      'for MCP': () => provider.token('member', { aud: MCP_AUDIENCE }),
      'without an audience': () => provider.token('member', { aud: undefined }),
      'of another issuer': () => provider.token('member', { iss: 'https://other.test' }),
      'of the issuer with a slash more': () => provider.token('member', { iss: `${provider.issuer}/` }),
      expired: () => provider.token('member', { exp: now() - 60 }),
      'without an expiry': () => provider.token('member', { exp: undefined }),
      'not valid yet': () => provider.token('member', { nbf: now() + 600 }),
      'without a subject': () => provider.token('member', { sub: undefined }),
      'with an empty subject': () => provider.token(''),
      'with a subject that no database takes': () => provider.token('a\0b'),
      'with the name of the operator as its subject': () => provider.token('operator'),
      'with the name of the service as its subject': () => provider.token('service'),
      'with the name of an API key as its subject': () => provider.token('api_key/abcdef'),
      'with a subject that is not text': () => provider.token('member', { sub: { $ne: null } }),
      'with a very long subject': () => provider.token('x'.repeat(300)),
      'with an expiry that is not a number': () => provider.token('member', { exp: 'never' }),
      'with a padded signature': async () => `${await provider.token('member')}==`,
      'of seven kilobytes of nothing': async () => 'a'.repeat(7_000),
      'of dots': async () => '..',
      'whose header is not JSON': async () => 'e30x.e30.e30',
    };
    for (const [what, make] of Object.entries(hostile))
      it(`for a token ${what}, with the body of an unknown API key`, async () => {
        const answer = await start(await make());
        assert.equal(answer.status, 401);
        assert.deepEqual(answer.body, unknownKey);
      });

    it('for every token where no issuer is configured', async () => {
      const plain = await startWeir({ worker: false });
      try {
        const answer = await plain.call('GET', 'a/b/c/jobs/d', { key: await provider.token('member') });
        assert.equal(answer.status, 401);
      } finally {
        await plain.stop();
      }
    });
  });
});
