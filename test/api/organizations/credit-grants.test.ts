// Credits that operators grant over HTTP, and those that a new organization begins with.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type IdentityProvider, startIdentityProvider } from '../../fakes/identity-provider.ts';
import { startWeir, type Weir } from '../../harness.ts';
import { createOrganization, type Organization } from '../../organization.ts';
import { code } from './management-harness.ts';

const OPERATOR = 'operator@example.com';

describe('credits', () => {
  let provider: IdentityProvider;
  let weir: Weir;
  let acme: Organization;
  let operator: string;
  before(async () => {
    provider = await startIdentityProvider();
    const env = { WEIR_OPERATORS: `somebody,${OPERATOR}`, WEIR_STARTING_CREDITS: '2.5' };
    weir = await startWeir({ env: { ...provider.env, ...env }, worker: false });
    operator = await provider.token(OPERATOR);
  });
  beforeEach(async () => {
    acme = await createOrganization(weir, provider);
  });
  after(async () => {
    await weir.stop();
    await provider.close();
  });

  const grant = (key: string | undefined, body: unknown, token = operator, organizationId?: string) =>
    weir.call('POST', `/organizations/${organizationId ?? acme.organizationId}/credits/grants`, {
      key: token,
      body,
      ...(key !== undefined && { headers: { 'idempotency-key': key } }),
    });
  const get = async (path: string) =>
    (await weir.call('GET', `/organizations/${acme.organizationId}${path}`, { key: acme.token.owner })).body;
  const grants = async () =>
    (await get('/audit-log?action=credits.grant')).entries.map(
      ({ actor, details }: { actor: string; details: object }) => ({ actor, ...details }),
    );

  describe('that an operator grants', () => {
    it('are in the balance, the ledger and the audit log, once however often the request is sent', async () => {
      const { organizationId } = acme;
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => grant('invoice-7', { credits: 12.5 })),
      );
      for (const { status, body } of answers) {
        assert.equal(status, 201, JSON.stringify(body));
        assert.deepEqual(body, { organizationId, credits: 12.5, key: 'invoice-7', balance: 1012.5 });
      }
      const first = answers.filter(({ headers }) => headers.get('idempotent-replayed') === null);
      assert.equal(first.length, 1);
      assert.equal((await get('/credits')).balance, 1012.5);
      assert.equal((await get('/credits/ledger')).entries[0].key, 'invoice-7');
      assert.deepEqual(await grants(), [{ actor: OPERATOR, credits: 12.5, key: 'invoice-7' }]);
    });

    it('are refused when the key stands for another amount', async () => {
      await grant('invoice-8', { credits: 1 });
      assert.deepEqual(code(await grant('invoice-8', { credits: 2 })), [409, 'IDEMPOTENCY_KEY_REUSED']);
      assert.equal((await get('/credits')).balance, 1001);
    });

    it('need a key, and an amount over 0 with at most six decimal places', async () => {
      const wrong: [string | undefined, unknown][] = [
        [undefined, { credits: 1 }],
        ['a b', { credits: 1 }],
        ['k'.repeat(256), { credits: 1 }],
        ['k', {}],
        ['k', { credits: 0 }],
        ['k', { credits: -1 }],
        ['k', { credits: 1e-7 }],
        ['k', { credits: 1e9 + 1 }],
        ['k', { credits: '1' }],
        ['k', { credits: 1, note: 'x' }],
      ];
      for (const [key, body] of wrong)
        assert.deepEqual(
          code(await grant(key, body)),
          [422, 'VALIDATION_ERROR'],
          JSON.stringify([key, body]),
        );
      assert.deepEqual(await grants(), []);
    });

    it('are refused where the balance would no longer be exact', async () => {
      for (let granted = 0; granted < 9; granted += 1) await grant(`much-${granted}`, { credits: 1e9 });
      assert.deepEqual(code(await grant('too-much', { credits: 1e9 })), [422, 'VALIDATION_ERROR']);
      assert.equal((await get('/credits')).balance, 9_000_001_000);
    });

    it('are refused to an owner who is not an operator, and to an operator for an organization that is not there', async () => {
      assert.deepEqual(code(await grant('k', { credits: 1 }, acme.token.owner)), [403, 'FORBIDDEN']);
      assert.deepEqual(code(await grant('k', { credits: 1 }, operator, randomUUID())), [404, 'NOT_FOUND']);
      await weir.call('DELETE', `/organizations/${acme.organizationId}`, { key: acme.token.owner });
      assert.deepEqual(code(await grant('k', { credits: 1 })), [404, 'NOT_FOUND']);
    });
  });

  describe('of a new organization', () => {
    const create = async (key: string) => {
      const slug = `new-${randomUUID()}`;
      return (await weir.call('POST', '/organizations', { key, body: { name: slug, slug } })).body;
    };

    it('are those of WEIR_STARTING_CREDITS, in its ledger and its audit log', async () => {
      const key = await provider.token(randomUUID());
      const { id, credits } = await create(key);
      assert.equal(credits, 2.5);
      const read = async (path: string) =>
        (await weir.call('GET', `/organizations/${id}${path}`, { key })).body.entries;
      const [entry] = await read('/credits/ledger');
      assert.deepEqual([entry.kind, entry.key, entry.credits], ['grant', 'start', 2.5]);
      const [logged] = await read('/audit-log?action=credits.grant');
      assert.deepEqual([logged.actor, logged.details], ['service', { credits: 2.5, key: 'start' }]);
    });

    it('are given to each user once, also when they make several at once or delete the first', async () => {
      const key = await provider.token(randomUUID());
      const made = await Promise.all(Array.from({ length: 4 }, () => create(key)));
      assert.deepEqual(made.map(({ credits }) => credits).sort(), [0, 0, 0, 2.5]);
      for (const { id } of made) await weir.call('DELETE', `/organizations/${id}`, { key });
      assert.equal((await create(key)).credits, 0);
    });

    it('are not used up by an organization that was refused', async () => {
      const key = await provider.token(randomUUID());
      const taken = { name: 'Taken', slug: acme.organization };
      assert.equal((await weir.call('POST', '/organizations', { key, body: taken })).status, 409);
      assert.equal((await create(key)).credits, 2.5);
    });
  });
});
