import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type FakeModelServer, startFakeModelServer } from '../fakes/model-server.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { playCase } from './play-case.ts';
import { type Case, readCases } from './read-cases.ts';
import { checkRight } from './rights.ts';

/** The prompt of claim-2 in the escape that docs/blocks.md has. */
const ESCAPED = String.raw`Use \{{ customer }} in the mail`;

describe('a provider that deviates', () => {
  let folder: string;
  let models: FakeModelServer;
  let weir: Weir;
  let tenant: Tenant;
  before(async () => {
    models = await startFakeModelServer();
    const { baseUrl } = models.provider;
    const prefixes = ['OPENAI', 'OPENROUTER', 'OLLAMA', 'GOOGLE', 'ANTHROPIC'];
    folder = mkdtempSync(path.join(tmpdir(), 'weir-cases-'));
    const file = path.join(folder, 'providers.json');
    const strict = { base_url: baseUrl, refused_fields: ['max_completion_tokens'] };
    writeFileSync(file, JSON.stringify({ strict }));
    weir = await startWeir({
      env: {
        WEIR_PROVIDERS_FILE: file,
        ...Object.fromEntries(prefixes.map((prefix) => [`${prefix}_BASE_URL`, baseUrl])),
        WEIR_TEST_DIAL_MAP: JSON.stringify({ 'img.example': '127.0.0.1:9' }),
      },
    });
    tenant = await weir.createTenant();
  });
  after(async () => {
    await weir.stop();
    await models.close();
    rmSync(folder, { recursive: true });
  });

  const play = (one: Case, more = {}) => playCase({ weir, tenant, models }, one, more);

  /** The checks of cases whose `right` is a sentence. */
  const sentences: { [right: string]: (one: Case) => Promise<void> } = {
    async 'there is a documented escape that the model receives as {{ customer }}'(one) {
      const { last, calls } = await play(one, { prompt: ESCAPED });
      assert.equal(last.status, 'completed', JSON.stringify(last));
      const messages = calls[0]?.body.messages;
      assert.deepEqual(messages, [{ role: 'user', content: one.block?.prompt }]);
    },
    async 'refused before the run with MODEL_MIME_INCOMPATIBLE, or fetched through the guarded client and sent as base64'(
      one,
    ) {
      const { answers, calls } = await play(one);
      assert.equal(answers[0]?.status, 400);
      assert.equal(answers[0]?.body.detail.code, 'MODEL_MIME_INCOMPATIBLE');
      assert.equal(calls.length, 0);
    },
    async "a provider's configuration says which field its servers take; the error's words reach the caller"(
      one,
    ) {
      const limited = { processor_config: { max_tokens: 50 } };
      const { last } = await play(one, limited);
      assert.equal(last.status, 'failed');
      assert.match(last.errorMessage, /max_completion_tokens.*Extra inputs are not permitted/);
      const configured = await play({ ...one, block: { model: 'strict/x' } }, limited);
      assert.equal(configured.last.status, 'completed', JSON.stringify(configured.last));
      assert.equal(configured.calls[0]?.body.max_tokens, 50);
    },
  };

  for (const one of readCases().filter(({ block }) => block)) {
    it(`${one.id}: ${one.kind}`, async () => {
      if (typeof one.right !== 'string') return checkRight(await play(one), one);
      const check = sentences[one.right];
      assert.ok(check, `No check is known for: ${one.right}`);
      return check(one);
    });
  }
});
