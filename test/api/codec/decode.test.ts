import assert from 'node:assert/strict';
import type { Payload } from '@temporalio/common';
import { createCodecSessions } from '../../../api/codec/codec-routes.ts';
import type { UserPrincipal } from '../../../api/http/principal.ts';
import { passthrough } from '../../blocks.ts';
import { type IdentityProvider, MCP_AUDIENCE, startIdentityProvider } from '../../fakes/identity-provider.ts';
import { type Answer, SECRETS_KEYS, startWeir, type Weir } from '../../harness.ts';
import { createOrganization, type Organization } from '../../organization.ts';
import { waitUntil } from '../../wait-until.ts';
import { waitsForBytes } from '../http/waits-for-bytes.ts';

const WEB_UI = 'http://127.0.0.1:8233';
const DECODE = '/codec/decode';
type Json = { metadata: Record<string, string>; data: string };

describe('the codec endpoint', () => {
  let provider: IdentityProvider;
  let weir: Weir;
  let acme: Organization;
  let other: Organization;
  let mine: Json;
  let theirs: Json;
  before(async () => {
    provider = await startIdentityProvider();
    const env = { ...provider.env, WEIR_TEMPORAL_KEYS: SECRETS_KEYS, WEIR_TEMPORAL_UI_URL: WEB_UI };
    weir = await startWeir({ env });
    acme = await createOrganization(weir, provider);
    other = await createOrganization(weir, provider);
    mine = await resultOf(acme, 'mine');
    theirs = await resultOf(other, 'theirs');
  });
  after(async () => {
    await weir.stop();
    await provider.close();
  });

  /** Runs a flow; returns its result as Temporal has it. */
  async function resultOf(tenant: Organization, message: string): Promise<Json> {
    const flow = await weir.createFlow(tenant, [passthrough('a')]);
    const { body } = await weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message } });
    return lastPayload(body.executionId);
  }

  async function lastPayload(workflowId: string): Promise<Json> {
    const handle = weir.client.workflow.getHandle(workflowId);
    await handle.result();
    const { events } = await handle.fetchHistory();
    const ended = events?.at(-1)?.workflowExecutionCompletedEventAttributes;
    return toJson(ended?.result?.payloads?.[0] as Payload);
  }

  const decode = (payloads: unknown, key?: string, headers = {}): Promise<Answer> =>
    weir.call('POST', DECODE, { key, body: { payloads }, headers });

  it('decodes for members of whatever role', async () => {
    assert.equal(text(mine, 'encoding'), 'binary/encrypted');
    for (const role of ['owner', 'admin', 'member'] as const) {
      const { status, body } = await decode([mine], acme.token[role]);
      assert.equal(status, 200, JSON.stringify(body));
      assert.equal(text(body.payloads[0], 'encoding'), 'json/plain');
      assert.match(Buffer.from(body.payloads[0].data, 'base64').toString(), /mine/);
    }
  });

  it('answers what others wrote as it came, and 403 where nothing may be read', async () => {
    const { body } = await decode([theirs, mine], acme.token.member);
    assert.deepEqual(body.payloads[0], theirs);
    assert.equal(text(body.payloads[1], 'encoding'), 'json/plain');
    const stranger = await provider.token('a-stranger');
    for (const [payload, token] of [
      [theirs, acme.token.owner],
      [mine, stranger],
    ] as const) {
      const refused = await decode([payload], token);
      assert.deepEqual([refused.status, refused.body.detail.code], [403, 'FORBIDDEN']);
    }
  });

  /** The payload with another text in a field of its metadata. */
  const withText = (payload: Json, field: string, text: string): Json => ({
    ...payload,
    metadata: { ...payload.metadata, [field]: Buffer.from(text).toString('base64') },
  });
  const problemOf = (payload: Json): string => {
    assert.deepEqual(
      [text(payload, 'encoding'), Object.keys(payload.metadata)],
      ['json/plain', ['encoding']],
    );
    return JSON.parse(Buffer.from(payload.data, 'base64').toString());
  };

  it('opens no payload that only says it is of the caller’s run', async () => {
    const id = text(mine, 'workflow-id');
    for (const claimed of [id, `${id}/${text(theirs, 'workflow-id')}`]) {
      const { status, body } = await decode([withText(theirs, 'workflow-id', claimed)], acme.token.owner);
      assert.equal(status, 200);
      assert.match(
        problemOf(body.payloads[0]),
        /^Weir cannot decode this: A payload .* cannot be decrypted: /,
      );
    }
  });

  it('says in place of a payload that cannot be decoded why, and decodes the others', async () => {
    const retired = withText(mine, 'encryption-key-id', 'retired');
    const damaged = { ...mine, data: mine.data.slice(0, 8) };
    const { status, body } = await decode([retired, mine, damaged], acme.token.owner);
    assert.equal(status, 200);
    assert.match(problemOf(body.payloads[0]), /under the key retired, which is not in WEIR_TEMPORAL_KEYS\.$/);
    assert.match(Buffer.from(body.payloads[1].data, 'base64').toString(), /mine/);
    assert.match(problemOf(body.payloads[2]), /the payload was changed\.$/);
  });

  it('takes no API key, no token for another purpose, and nobody unknown', async () => {
    const credentials = [
      undefined,
      acme.key,
      await provider.token(acme.users.owner, { aud: MCP_AUDIENCE }),
      await provider.token(acme.users.owner, { exp: 1 }),
    ];
    for (const key of credentials) assert.equal((await decode([mine], key)).status, 401);
    assert.equal((await decode([mine], undefined, { cookie: 'weir_codec=b25lOnh4' })).status, 401);
  });

  it('lets a browser in by the session that a user opened, until their token would have expired', async () => {
    const opened = await weir.call('POST', '/codec/session', { key: acme.token.member });
    assert.equal(opened.status, 204);
    const given = opened.headers.get('set-cookie') ?? '';
    assert.match(given, /; Path=\/api\/v1\/codec; Max-Age=\d+; HttpOnly; SameSite=Strict$/);
    const cookie = `other=1; ${given.split(';')[0]}`;
    assert.equal((await decode([mine], undefined, { cookie, origin: WEB_UI })).status, 200);
    assert.equal((await decode([theirs], undefined, { cookie })).status, 403);
    const second = `weir_codec=b25lOnh4; ${cookie}`;
    assert.equal((await decode([mine], undefined, { cookie: second })).status, 200);
    const past = { userId: acme.users.member, expiresAt: new Date(Date.now() - 1) } as UserPrincipal;
    const [expired] = createCodecSessions(weir.config).open(past).split(';');
    assert.equal((await decode([mine], undefined, { cookie: expired })).status, 401);
    assert.equal((await weir.call('GET', '/me', { headers: { cookie } })).status, 401);
  });

  it('may be used by the web pages of Temporal’s Web UI alone', async () => {
    const ask = (origin: string) =>
      fetch(`${weir.url}/api/v1${DECODE}`, { method: 'OPTIONS', headers: { origin } });
    const allowed = await ask(WEB_UI);
    assert.equal(allowed.status, 204);
    assert.equal(allowed.headers.get('access-control-allow-origin'), WEB_UI);
    assert.equal(allowed.headers.get('access-control-allow-credentials'), 'true');
    assert.match(allowed.headers.get('access-control-allow-headers') ?? '', /X-Namespace/);
    assert.equal((await ask('http://127.0.0.1:8234')).status, 403);
    const foreign = await decode([mine], acme.token.owner, { origin: 'https://evil.example' });
    assert.equal(foreign.status, 403);
    assert.equal(foreign.headers.get('access-control-allow-origin'), null);
  });

  it('leaves what is not encrypted, and encodes nothing', async () => {
    const plain = { metadata: { encoding: Buffer.from('json/plain').toString('base64') }, data: 'MQ==' };
    assert.deepEqual((await decode([plain, {}], acme.token.owner)).body.payloads, [plain, {}]);
    const encoded = await weir.call('POST', '/codec/encode', {
      key: acme.token.owner,
      body: { payloads: [plain] },
    });
    assert.equal(encoded.status, 404);
  });

  it('waits until its user may hold a large answer', async () => {
    const gates = weir.httpGates;
    const large = { data: 'MQ=='.repeat(100_000) };
    const ask = () => decode([large], acme.token.owner);
    assert.deepEqual((await waitsForBytes(gates, acme.users.owner, ask)).body.payloads, [large]);
    await waitUntil(() => gates.answers.count().weight === 0);
  });

  it('takes at most 32 fields of metadata in a payload', async () => {
    const metadata = (count: number, value: unknown) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`field-${at}`, value]));
    assert.equal((await decode([{ metadata: metadata(32, 'MQ==') }], acme.token.owner)).status, 200);
    const { status, body } = await decode(
      Array.from({ length: 1_000 }, () => ({ metadata: metadata(400, 1) })),
      acme.token.owner,
    );
    assert.equal(status, 422, JSON.stringify(body));
    const [first] = body.detail.errors;
    assert.deepEqual(first, { field: 'payloads.0.metadata', message: 'must have at most 32 entries' });
  });

  it('inflates what was compressed', async () => {
    const name = 'long '.repeat(2_000);
    const flow = await weir.createFlow(acme, [passthrough('a', { name })]);
    const { body } = await weir.call('POST', `${flow}/execute`, { key: acme.key, body: { message: 'm' } });
    const { events } = await weir.client.workflow.getHandle(body.executionId).fetchHistory();
    const { input } = events?.[0]?.workflowExecutionStartedEventAttributes ?? {};
    const large = toJson(input?.payloads?.[0] as Payload);
    assert.ok(large.data.length < name.length);
    const { body: decoded } = await decode([large], acme.token.owner);
    assert.ok(Buffer.from(decoded.payloads[0].data, 'base64').includes(name));
  });

  it('decodes nothing of a run that was deleted', async () => {
    const gone = await resultOf(acme, 'gone');
    assert.equal((await decode([gone], acme.token.owner)).status, 200);
    const id = text(gone, 'workflow-id');
    await weir.db
      .updateTable('flow')
      .set({ deleted_at: new Date() })
      .where('id', '=', (eb) => eb.selectFrom('run').select('flow_id').where('execution_id', '=', id))
      .execute();
    assert.equal((await decode([gone], acme.token.owner)).status, 403);
  });
});

function text({ metadata }: Json, name: string): string {
  return Buffer.from(metadata[name] ?? '', 'base64').toString();
}

function toJson({ metadata, data }: Payload): Json {
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  return {
    metadata: Object.fromEntries(
      Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)]),
    ),
    data: base64(data ?? new Uint8Array()),
  };
}
