import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { checkModels } from '../../../cli/doctor/checks.ts';
import { readProviders } from '../../../platform/config/providers.ts';

describe('the variables of model providers', () => {
  for (const [name, value] of [
    ['OPENAI_BASE_URL', 'notaurl'],
    ['OPENAI_BASE_URL', 'ftp://127.0.0.1/v1'],
    ['ANTHROPIC_API_KEY', 'sk-a-secret\nsecond'],
    ['ANTHROPIC_API_KEY', 'sk-a-secret ü'],
    ['OPENAI_API', 'chat-completions-v1'],
    ['AZURE_RESOURCE', 'https://acme.openai.azure.com'],
  ] as const)
    it(`are refused by name, and not repeated: ${name}=${JSON.stringify(value)}`, () => {
      assert.throws(
        () => readProviders({ [name]: value }),
        ({ message }: Error) => message.includes(`  ${name} `) && !message.includes(value),
      );
    });

  for (const name of [
    'openai',
    'anthropic',
    'google',
    'openrouter',
    'mistral',
    'groq',
    'deepseek',
    'together',
  ])
    it(`need only a key for ${name}`, () => {
      const { providers } = readProviders({ [`${name.toUpperCase()}_API_KEY`]: 'k' });
      assert.equal(providers[name]?.apiKey, 'k');
      assert.match(providers[name]?.baseUrl ?? '', /^https:/);
    });

  it('have Azure need its resource too, vLLM a base URL, and Ollama nothing outside production', () => {
    const { azure } = readProviders({ AZURE_API_KEY: 'k', AZURE_RESOURCE: 'acme' }).providers;
    assert.partialDeepStrictEqual(azure, {
      baseUrl: 'https://acme.openai.azure.com/openai/v1',
      keyHeader: 'api-key',
    });
    const { vllm } = readProviders({ VLLM_BASE_URL: 'http://gpu-1:8000/v1' }).providers;
    assert.partialDeepStrictEqual(vllm, { baseUrl: 'http://gpu-1:8000/v1', apiKey: 'none' });
    assert.equal(readProviders({}).providers.ollama?.baseUrl, 'http://127.0.0.1:11434/v1');
    assert.deepEqual(readProviders({ NODE_ENV: 'production' }).providers, {});
  });

  for (const [key, address] of [
    ['AZURE_API_KEY', 'AZURE_RESOURCE or AZURE_BASE_URL'],
    ['VLLM_API_KEY', 'VLLM_BASE_URL'],
  ] as const)
    it(`are refused where a key lacks its address: ${key}`, () => {
      assert.throws(
        () => readProviders({ [key]: 'k' }),
        ({ message }: Error) => message.endsWith(`\n  ${key} needs ${address}`),
      );
    });

  it('choose the API of a provider', () => {
    const { openai } = readProviders({ OPENAI_API_KEY: 'k', OPENAI_API: 'openai-responses' }).providers;
    assert.equal(openai?.api, 'openai-responses');
  });

  for (const address of ['https://a.example/claude', 'https://a.example/claude/v1/'])
    it(`have the address of Anthropic with and without /v1: ${address}`, () => {
      const read = (api: string) =>
        readProviders({ ANTHROPIC_BASE_URL: `${address}?a=1`, ANTHROPIC_API: api }).providers.anthropic;
      assert.partialDeepStrictEqual(read('anthropic'), {
        baseUrl: 'https://a.example/claude?a=1',
        keyHeader: 'x-api-key',
      });
      const chat = read('openai-chat');
      assert.deepEqual([chat?.baseUrl, chat?.keyHeader], ['https://a.example/claude/v1?a=1', undefined]);
      // Its OpenAI layer ignores this.
      assert.ok(chat?.refusedFields?.includes('reasoning_effort'));
    });

  it('leave the key of the service out of the providers that take own keys', () => {
    const { ownKeyProviders } = readProviders({ OPENAI_API_KEY: 'of-the-service' });
    assert.equal(ownKeyProviders.openai?.apiKey, 'none');
    assert.equal(ownKeyProviders.ollama, undefined);
  });

  it('may have a base URL with a slash at its end and a query string, as calls of models do', async () => {
    const paths: unknown[] = [];
    const server = createServer(({ url }, response) => {
      paths.push(url);
      response.end('{}');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const { providers } = readProviders({ OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1/?a=1` });
    const [found] = await checkModels({ providers });
    server.close();
    assert.deepEqual([found?.state, paths], ['ok', ['/v1/models?a=1']]);
  });

  it('are a warning of weir doctor when the provider has nothing at /models', async () => {
    const server = createServer((_, response) => response.writeHead(404).end());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const { providers } = readProviders({ OPENAI_BASE_URL: `http://127.0.0.1:${port}` });
    const [found] = await checkModels({ providers });
    server.close();
    assert.deepEqual([found?.state, /\(404\)/.test(found?.message ?? '')], ['warning', true]);
    assert.match(found?.mend ?? '', /OPENAI_BASE_URL/);
  });
});
