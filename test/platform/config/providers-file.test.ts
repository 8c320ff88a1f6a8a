import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findModelProblems } from '../../../api/flows/find-block-problems.ts';
import type { Step } from '../../../flow/definition.ts';
import { readProviders } from '../../../platform/config/providers.ts';
import { createRegistry } from '../../../platform/models/registry.ts';
import { llm } from '../../blocks.ts';

describe('the file of WEIR_PROVIDERS_FILE', () => {
  let folder: string;
  let file: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-providers-'));
    file = join(folder, 'providers.json');
  });
  after(() => rmSync(folder, { recursive: true }));

  const read = (content: unknown, env: NodeJS.ProcessEnv = {}) => {
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    return readProviders({ NODE_ENV: 'production', WEIR_PROVIDERS_FILE: file, ...env });
  };

  it('adds a provider by its base URL alone, and any number of them', () => {
    const { providers, ownKeyProviders } = read({
      gpu: { base_url: 'http://gpu-1:8000/v1' },
      'gpu-2': { base_url: 'http://gpu-2:8000/v1' },
    });
    assert.deepEqual(Object.keys(providers), ['gpu', 'gpu-2']);
    assert.partialDeepStrictEqual(providers.gpu, {
      name: 'gpu',
      api: 'openai-chat',
      baseUrl: 'http://gpu-1:8000/v1',
      apiKey: 'none',
    });
    assert.equal(ownKeyProviders.gpu?.baseUrl, 'http://gpu-1:8000/v1');
  });

  it('takes the key and secret headers from variables, and sends the latter with the key of the service only', () => {
    const { providers, ownKeyProviders } = read(
      {
        gateway: {
          api: 'anthropic',
          base_url: 'https://gateway.example/anthropic/v1?team=weir',
          key_env: 'GATEWAY_KEY',
          headers: { 'x-team': 'weir' },
          headers_env: { 'x-gateway-token': 'GATEWAY_TOKEN' },
          refused_fields: ['seed'],
        },
      },
      { GATEWAY_KEY: 'of-the-service', GATEWAY_TOKEN: 'secret' },
    );
    assert.partialDeepStrictEqual(providers.gateway, {
      api: 'anthropic',
      baseUrl: 'https://gateway.example/anthropic?team=weir',
      apiKey: 'of-the-service',
      keyHeader: 'x-api-key',
      headers: { 'x-team': 'weir', 'x-gateway-token': 'secret' },
      refusedFields: ['seed'],
    });
    assert.deepEqual(ownKeyProviders.gateway?.headers, { 'x-team': 'weir' });
    assert.doesNotMatch(JSON.stringify(ownKeyProviders), /of-the-service|secret/);
  });

  it('takes the key from a file where its variable ends with _FILE', () => {
    const key = join(folder, 'key');
    writeFileSync(key, 'k\n');
    const content = { gpu: { base_url: 'http://gpu-1/v1', key_env: 'GPU_KEY' } };
    assert.equal(read(content, { GPU_KEY_FILE: key }).providers.gpu?.apiKey, 'k');
  });

  it('may have the address for the key in a variable, and the key for the address in one', () => {
    const { azure } = read({ azure: { base_url: 'https://a.example/v1' } }, { AZURE_API_KEY: 'k' }).providers;
    assert.equal(azure?.apiKey, 'k');
    const env = { OUR_KEY: 'k' };
    const content = { vllm: { key_env: 'OUR_KEY' } };
    assert.equal(read(content, { ...env, VLLM_BASE_URL: 'http://gpu-1/v1' }).providers.vllm?.apiKey, 'k');
    assert.throws(() => read(content, env), /OUR_KEY needs VLLM_BASE_URL/);
  });

  it('sets what a preset has otherwise, beside its variables', () => {
    const content = { openai: { refused_fields: ['max_completion_tokens'] } };
    const { openai } = read(content, { OPENAI_API_KEY: 'k' }).providers;
    assert.partialDeepStrictEqual(openai, {
      apiKey: 'k',
      baseUrl: 'https://api.openai.com/v1',
      refusedFields: ['max_completion_tokens'],
    });
  });

  it('makes a second provider of a preset, with the prices of its models', () => {
    const { providers, providerModels } = read(
      { 'azure-eu': { preset: 'azure', base_url: 'https://eu.example/openai/v1', key_env: 'EU_KEY' } },
      { EU_KEY: 'k' },
    );
    assert.equal(providers['azure-eu']?.keyHeader, 'api-key');
    const registry = createRegistry({ providers: providerModels });
    for (const model of ['gpt-5-mini', 'any'])
      assert.deepEqual(
        registry.capabilities(`azure-eu/${model}`),
        createRegistry().capabilities(`azure/${model}`),
      );
    const { price } = registry.capabilities('openai/gpt-5.2');
    assert.deepEqual(registry.capabilities('azure-eu/gpt-5.2').price, price);
  });

  it('sets what the models of a provider can do and cost', () => {
    const capabilities = { tools: false, price: { input: 1, output: 2 } };
    const { providerModels } = read({ gpu: { base_url: 'http://gpu-1/v1', capabilities } });
    const registry = createRegistry({ providers: providerModels });
    assert.partialDeepStrictEqual(registry.capabilities('gpu/qwen'), { ...capabilities, json_schema: true });
  });

  it('has its models known where a flow is written', () => {
    const { providerModels } = read({ gpu: { base_url: 'http://gpu-1/v1' } });
    const registry = createRegistry({ providers: providerModels });
    const steps = [llm('ask', 'Hi', 'gpu/qwen')] as Step[];
    assert.deepEqual(findModelProblems({ steps }, registry), []);
    assert.equal(findModelProblems({ steps }, createRegistry()).length, 1);
  });

  for (const [content, problem] of [
    ['{"gpu"', /is not JSON/],
    [{ GPU: { base_url: 'http://gpu-1/v1' } }, /The name of a provider has lower-case letters/],
    [{ gpu: {} }, /gpu\.base_url is missing/],
    [{ az2: { preset: 'azure' } }, /az2\.base_url is missing/],
    [
      { gpu: { base_url: 'http://gpu-1/v1', refused_fields: ['seed', 'messages'] } },
      /field of every request.*\n.*gpu\.refused_fields\[1\]/,
    ],
    [{ gpu: { base_url: 'gpu-1' } }, /is not an http.*\n.*gpu\.base_url/],
    [{ gpu: { base_url: 'http://me:pw@gpu-1/v1' } }, /user name or password.*\n.*gpu\.base_url/],
    [{ gpu: { base_url: 'http://gpu-1/v1', api: 'chat' } }, /gpu\.api/],
    [{ gpu: { base_url: 'http://gpu-1/v1', key: 'sk-1' } }, /must not hold a key.*\n.*gpu/],
    [
      { gpu: { base_url: 'http://gpu-1/v1', key_env: 'NOT_SET' } },
      /gpu\.key_env names NOT_SET, which is not set/,
    ],
    [{ gpu: { base_url: 'http://gpu-1/v1', headers: { Authorization: 'x' } } }, /key_env and key_header/],
    [{ gpu: { base_url: 'http://gpu-1/v1', headers: { 'x-a': 'a\nb' } } }, /gpu\.headers/],
    [{ gpu: { base_url: 'http://gpu-1/v1', colour: 'red' } }, /colour/],
  ] as const)
    it(`is refused with the place, and without its values: ${JSON.stringify(content)}`, () => {
      assert.throws(
        () => read(content),
        ({ message }: Error) => {
          assert.match(message, /WEIR_PROVIDERS_FILE/);
          assert.match(message, problem);
          assert.doesNotMatch(message, /sk-1|pw/);
          return true;
        },
      );
    });

  it('is refused with the capability that does not exist', () => {
    const { providerModels } = read({ gpu: { base_url: 'http://gpu-1/v1', capabilities: { toools: true } } });
    assert.throws(
      () => createRegistry({ providers: providerModels }),
      /"gpu" of WEIR_PROVIDERS_FILE(.|\n)*toools/,
    );
  });
});
