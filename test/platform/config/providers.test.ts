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
  ] as const)
    it(`are refused by name, and not repeated: ${name}=${JSON.stringify(value)}`, () => {
      assert.throws(
        () => readProviders({ [name]: value }),
        ({ message }: Error) => message.includes(`  ${name} `) && !message.includes(value),
      );
    });

  it('may have a base URL with a slash at its end, as calls of models do', async () => {
    const paths: unknown[] = [];
    const server = createServer(({ url }, response) => {
      paths.push(url);
      response.end('{}');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const providers = readProviders({ OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1/` });
    const [found] = await checkModels({ providers });
    server.close();
    assert.deepEqual([found?.state, paths], ['ok', ['/v1/models']]);
  });

  it('are a warning of weir doctor when the provider has nothing at /models', async () => {
    const server = createServer((_, response) => response.writeHead(404).end());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const providers = readProviders({ OPENAI_BASE_URL: `http://127.0.0.1:${port}` });
    const [found] = await checkModels({ providers });
    server.close();
    assert.deepEqual([found?.state, /\(404\)/.test(found?.message ?? '')], ['warning', true]);
    assert.match(found?.mend ?? '', /OPENAI_BASE_URL/);
  });
});
