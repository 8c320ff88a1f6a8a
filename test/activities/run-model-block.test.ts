import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import type { ActivityDeps } from '../../activities/activity-deps.ts';
import type { Attempt } from '../../activities/attempts/run-attempt.ts';
import { createAnswerLengths } from '../../activities/model/answer-lengths.ts';
import { createFormatRefusals } from '../../activities/model/format-refusals.ts';
import { createProviderOutages } from '../../activities/model/provider-outages.ts';
import { runModelBlock } from '../../activities/run-model-block.ts';
import { reserveCredits } from '../../db/credits/reservations.ts';
import { MESSAGE_REF } from '../../flow/value.ts';
import { createLargeValues } from '../../platform/large-values/large-values.ts';
import { createFairQueue } from '../../platform/limits/fair-queue.ts';
import { createRegistry } from '../../platform/models/registry.ts';
import { llm } from '../blocks.ts';
import { type Account, audit, openAccount } from '../db/credits/ledger-fixture.ts';
import { answer, type FakeModelServer, hang, respond, startFakeModelServer } from '../fakes/model-server.ts';
import { attemptOf } from './attempt-of.ts';
import { createTestGates } from './test-gates.ts';
import { useExecutors } from './use-executors.ts';

const BALANCE = 1_000_000;
const REFUSES = respond(429, { error: { message: 'busy' } });
const UNAVAILABLE = { name: 'ModelUnavailable' };

describe('an attempt at a block that asks a model', () => {
  const executors = useExecutors();
  let models: FakeModelServer;
  let account: Account;
  beforeEach(async () => {
    models = await startFakeModelServer();
    account = await openAccount(executors.db, BALANCE, 1, [llm('ask', 'x', 'openai/gpt-4o-mini')]);
  });
  afterEach(() => models.close());

  const id = () => ({ callId: account.runs[0] as string, blockKey: 'ask' });
  const reserved = async () => (await audit(executors.db, account)).reserved;
  const reserve = () =>
    reserveCredits(executors.db, { ...id(), organizationId: account.organizationId, microcredits: 5 });

  /** One attempt in a process of its own. */
  function run(attempt: Attempt) {
    const deps = {
      db: executors.db,
      balanceLimit: createFairQueue({ capacity: 1 }),
      largeValues: createLargeValues(),
      gates: createTestGates(),
      registry: createRegistry(),
      providers: { openai: models.provider },
      providerOutages: createProviderOutages(),
      answerLengths: createAnswerLengths(),
      formatRefusals: createFormatRefusals(),
      ownKeyProviders: { openai: models.provider },
      validator: { of: () => ({}) },
    } as unknown as ActivityDeps;
    const execution = { ...id(), stepId: 'ask', input: { ref: MESSAGE_REF }, ends: false };
    return runModelBlock(deps, executors.createExecutor(), execution, attempt, (call) => call());
  }
  /** Begins an attempt whose request the model does not answer. */
  async function begin(begun: number): Promise<{ ended: Promise<unknown>; response: ServerResponse }> {
    models.will(hang);
    const asked = models.nextCall();
    const ended = run(attemptOf(begun));
    return { ended, response: await asked };
  }

  it('releases what it has reserved when its provider refuses', async () => {
    models.will(REFUSES);
    await assert.rejects(run(attemptOf(1)), UNAVAILABLE);
    assert.equal(await reserved(), 0);
  });

  it('leaves what the attempt in its place has reserved, which is charged for its answer', async () => {
    const replaced = await begin(1);
    const next = await begin(2);
    const failed = assert.rejects(replaced.ended, UNAVAILABLE);
    REFUSES(replaced.response);
    await failed;
    assert((await reserved()) > 0, 'the credits of a request under way are not set aside');
    answer('yes')(next.response);
    await next.ended;
    const { balance, reserved: left, charges } = await audit(executors.db, account);
    assert.deepEqual([balance < BALANCE, left, charges.size], [true, 0, 1]);
  });

  it('counts one that was lost with its workflow task, of which only its reservation is left', async () => {
    await reserve();
    const attempt = attemptOf(1);
    models.will(REFUSES);
    await assert.rejects(run(attempt), UNAVAILABLE);
    assert.equal(attempt.number, 2);
  });
});
