// Runs whose model calls cost a known amount, against a model that a test scripts.

import assert from 'node:assert/strict';
import { estimateUsage } from '../../../activities/model/estimate-usage.ts';
import { MICROCREDITS_PER_CREDIT } from '../../../flow/credit-amount.ts';
import type { Step } from '../../../flow/definition.ts';
import { createRegistry } from '../../../platform/models/registry.ts';
import { llm } from '../../blocks.ts';
import { audit } from '../../db/credits/ledger-fixture.ts';
import { answer, type FakeModelServer } from '../../fakes/model-server.ts';
import type { Tenant, Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { waitUntil } from '../../wait-until.ts';

export const MODEL = 'demo/chat';
const MAX_TOKENS = 5;
const USAGE = estimateUsage({ messages: [{ role: 'user', content: 'x' }] }, MAX_TOKENS);
/** Microcredits that a call of `ask` may cost, and costs when it is answered with `spend`. */
export const CALL = createRegistry().costMicrocredits(MODEL, USAGE);
export const ask = (stepId: string) =>
  llm(stepId, 'x', MODEL, { processor_config: { max_tokens: MAX_TOKENS } });
export const spend = answer('done', {
  usage: { prompt_tokens: USAGE.promptTokens, completion_tokens: USAGE.completionTokens },
});
export const credits = (microcredits: number) => microcredits / MICROCREDITS_PER_CREDIT;

/** `tenant` is the one who paid last. */
type Credits = {
  weir: Weir;
  models: FakeModelServer;
  tenant: Tenant;
  /** Makes a tenant whose balance is that of so many calls. */
  pay(calls: number): Promise<void>;
  account(): ReturnType<typeof audit>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape, and assert what they find
  execute(steps: Step[], more?: object): Promise<any>;
  /** Resolves once nothing is reserved. */
  released(): Promise<void>;
};

/** Registers the hooks of the enclosing `describe`. */
export function useCredits(): Credits {
  const harness = { pay, account, execute, released } as Credits;
  before(async () => {
    harness.models = (await getSharedWeir()).models;
    harness.weir = await getSharedWeir();
  });
  after(async () => {
    await harness.weir.stop();
  });
  beforeEach(() => {
    harness.models.calls.length = 0;
  });

  async function pay(calls: number): Promise<void> {
    harness.tenant = await harness.weir.createTenant({ credits: credits(Math.round(CALL * calls)) });
  }
  function account() {
    return audit(harness.weir.db, harness.tenant);
  }
  async function execute(steps: Step[], more: object = {}) {
    const { weir, tenant } = harness;
    const flow = await weir.createFlow(tenant, steps);
    const answered = await weir.call('POST', `${flow}/execute`, {
      key: tenant.key,
      body: { message: 'm', ...more },
    });
    assert.equal(answered.status, 200, JSON.stringify(answered.body));
    return answered.body;
  }
  async function released() {
    await waitUntil(async () => (await account()).reserved === 0);
  }
  return harness;
}
