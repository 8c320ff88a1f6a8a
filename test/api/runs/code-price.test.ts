// The cost of code blocks when processor time has a price (WEIR_CODE_PRICE).
import assert from 'node:assert/strict';
import type { Step } from '../../../flow/definition.ts';
import { code } from '../../blocks.ts';
import { audit } from '../../db/credits/ledger-fixture.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';

const CREDITS_PER_SECOND = 10;
const endless = (timeout_ms: number): Step[] => [
  code('spin', 'for (;;);', { processor_config: { timeout_ms } }),
];

describe('code blocks at a price', () => {
  let weir: Weir;
  before(async () => {
    weir = await startWeir({ env: { WEIR_CODE_PRICE: String(CREDITS_PER_SECOND) } });
  });
  after(() => weir.stop());

  async function execute(tenant: Tenant, steps: Step[], more: { maxCredits?: number } = {}) {
    const flow = await weir.createFlow(tenant, steps);
    return (await weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message: 'm', ...more } }))
      .body;
  }

  /** Sums up the charges in the ledger, in credits; asserts that they agree with the balance and nothing is reserved. */
  async function charged(tenant: Tenant): Promise<number> {
    const entries = await weir.db
      .selectFrom('ledger_entry')
      .select(['kind', 'amount_microcredits'])
      .where('organization_id', '=', tenant.organizationId)
      .execute();
    const { balance_microcredits } = await weir.db
      .selectFrom('organization')
      .select('balance_microcredits')
      .where('id', '=', tenant.organizationId)
      .executeTakeFirstOrThrow();
    const sum = entries.reduce((total, entry) => total + entry.amount_microcredits, 0);
    assert.equal(balance_microcredits, sum);
    const reserved = await weir.db
      .selectFrom('reservation')
      .select('block_key')
      .where('organization_id', '=', tenant.organizationId)
      .execute();
    assert.deepEqual(reserved, []);
    const charges = entries.filter(({ kind }) => kind === 'charge');
    return charges.reduce((total, entry) => total - entry.amount_microcredits, 0) / 1e6;
  }

  it('charges what a completed block took, as its receipt says', async () => {
    const tenant = await weir.createTenant();
    const steps = [code('a', 'for (let i = 0; i < 1e6; i++); return 1;'), code('b', 'return 2;')];
    const { result, cost, blocks } = await execute(tenant, steps);
    assert.equal(result, 2);
    assert(cost > 0, `${cost} credits`);
    assert.equal(blocks.length, 2);
    assert.equal(await charged(tenant), cost);
  });

  it('charges code that takes less than a tick of the clock, too', async () => {
    const tenant = await weir.createTenant();
    const { cost } = await execute(
      tenant,
      ['a', 'b', 'c', 'd', 'e'].map((id) => code(id, 'return 2;')),
    );
    assert.equal(await charged(tenant), cost);
    assert.equal((await audit(weir.db, tenant)).charges.size, 5);
  });

  it('charges timeouts by their limit', async () => {
    const tenant = await weir.createTenant();
    const { status, cost, errorMessage } = await execute(tenant, endless(200));
    assert.equal(status, 'failed');
    assert.match(errorMessage, /within 200 ms/);
    assert.equal(cost, 0.2 * CREDITS_PER_SECOND);
    assert.equal(await charged(tenant), cost);
  });

  it('charges code that fails for what it took', async () => {
    const tenant = await weir.createTenant();
    const { status, cost } = await execute(tenant, [
      code('a', 'for (let i = 0; i < 1e6; i++); throw new Error("no");'),
    ]);
    assert.equal(status, 'failed');
    assert(cost > 0, `${cost} credits`);
    assert.equal(await charged(tenant), cost);
  });

  it('does not begin what the balance does not cover', async () => {
    const tenant = await weir.createTenant({ credits: 1 });
    const { status, errorMessage } = await execute(tenant, endless(5_000));
    assert.equal(status, 'failed');
    assert.match(errorMessage, /has 1 credits .* may cost 50/);
    assert.equal(await charged(tenant), 0);
  });

  it('does not begin what maxCredits does not allow', async () => {
    const tenant = await weir.createTenant();
    const { status, errorMessage } = await execute(tenant, endless(5_000), { maxCredits: 49 });
    assert.equal(status, 'failed');
    assert.match(errorMessage, /maxCredits of the run is 49/);
    assert.equal(await charged(tenant), 0);
  });
});
