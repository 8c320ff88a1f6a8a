// A fake model server per test, and askModel against it.
import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { BlockOutput } from '../../../activities/attempts/serialize-output.ts';
import { getProvider } from '../../../activities/begin-request.ts';
import { createAnswerLengths } from '../../../activities/model/answer-lengths.ts';
import {
  askModel,
  type ModelDeps,
  type ModelRequest,
  type ModelUsage,
} from '../../../activities/model/ask-model.ts';
import { createFormatRefusals } from '../../../activities/model/format-refusals.ts';
import { createProviderOutages } from '../../../activities/model/provider-outages.ts';
import { UNUSED } from '../../../activities/record-block-end.ts';
import type { Block } from '../../../flow/definition.ts';
import { type ErrorCode, ServiceError } from '../../../flow/errors.ts';
import { PRESETS } from '../../../platform/config/provider-presets.ts';
import { createLargeJson } from '../../../platform/large-values/large-json.ts';
import { createRegistry } from '../../../platform/models/registry.ts';
import { type Behaviour, type FakeModelServer, startFakeModelServer } from '../../fakes/model-server.ts';

type Validate = ModelDeps['validator']['validate'];

/** Its thread is started by the first large answer, and does not keep the process alive. */
const largeJson = createLargeJson();
const ajv = new Ajv2020({ strict: false, allErrors: true });
const validate: Validate = async (schema, value) => {
  ajv.validate(schema, value);
  return (ajv.errors ?? []).map(({ instancePath, message = '' }) => ({ path: instancePath, message }));
};

/** The answer, and what it used. */
type Called = ModelUsage & BlockOutput;

/** `server` is a new one in each test, and the provider of openai, anthropic and google. */
type AskModelHarness = {
  server: FakeModelServer;
  /** The usage of the calls so far, and the credits reserved for each request. */
  usage: ModelUsage;
  reserved: number[];
  /** Checks values as the validator does, until a test sets another one. */
  validate: Validate;
  call(block?: Partial<Block>, signal?: AbortSignal, more?: Partial<ModelRequest>): Promise<Called>;
  callAfter(behaviour: Behaviour): Promise<Called>;
};

/** Registers the hooks of the enclosing `describe`. */
export function useAskModel(): AskModelHarness {
  const harness = { call, callAfter } as AskModelHarness;
  let formatRefusals = createFormatRefusals();
  beforeEach(async () => {
    harness.server = await startFakeModelServer();
    harness.usage = { ...UNUSED };
    harness.reserved = [];
    harness.validate = validate;
    formatRefusals = createFormatRefusals();
  });
  afterEach(() => harness.server.close());

  async function call(
    block: Partial<Block> = {},
    signal = new AbortController().signal,
    more: Partial<ModelRequest> = {},
  ): Promise<Called> {
    const { server, usage, reserved } = harness;
    const { provider } = server;
    const llm = { step_id: 's', name: 'S', processor_type: 'llm', model: 'openai/gpt-4o-mini' } as const;
    const providers = Object.fromEntries(
      (['openai', 'anthropic', 'google'] as const).map((name) => {
        const { baseUrl: _, ...preset } = PRESETS[name];
        return [name, { ...preset, ...provider, name }];
      }),
    );
    const { model = '' } = { ...llm, ...block };
    const begin = async (microcredits: number) => {
      reserved.push(microcredits);
      return getProvider(providers, model, { takesOwnKeys: true });
    };
    const conversation = [{ role: 'user' as const, content: 'Who was Ada?' }];
    const request = {
      organizationId: 'organization',
      block: { ...llm, ...block },
      conversation,
      usage,
      answers: {},
      turns: [],
      roundsLeft: 25,
      begin,
      keepAnswer: () => true,
      reserveAnswer: async () => undefined,
      ...more,
    };
    const reply = await askModel(
      {
        registry: createRegistry(),
        providerOutages: createProviderOutages(),
        answerLengths: createAnswerLengths(),
        formatRefusals,
        validator: { validate: (...asked) => harness.validate(...asked) },
        largeValues: { json: largeJson },
      },
      request,
      signal,
    );
    return { ...reply, ...usage };
  }
  function callAfter(behaviour: Behaviour) {
    harness.server.will(behaviour);
    return call();
  }
  return harness;
}

/** For assert.rejects: a ServiceError whose message matches and holds no key. */
export function fails(code: ErrorCode, message: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof ServiceError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, /key-of-the-test|sk-/);
    return true;
  };
}
