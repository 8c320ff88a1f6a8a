import assert from 'node:assert/strict';
import { Connection } from '@temporalio/client';
import { bypassProxy } from '../../dev/bypass-proxy.ts';

describe('bypassProxy', () => {
  it('adds this machine to NO_PROXY, in both spellings, and keeps what is there', () => {
    const env: NodeJS.ProcessEnv = { HTTP_PROXY: 'http://proxy.example:3128', NO_PROXY: 'intern,localhost' };
    bypassProxy(env);
    const hosts = 'intern,localhost,127.0.0.1,::1';
    assert.deepEqual([env.NO_PROXY, env.no_proxy], [hosts, hosts]);
  });

  it('lets a client reach Temporal on this machine although HTTP_PROXY is set', async () => {
    const names = ['http_proxy', 'NO_PROXY', 'no_proxy'] as const;
    const before = names.map((name) => process.env[name]);
    try {
      // Nothing listens there.
      process.env.http_proxy = 'http://127.0.0.1:9';
      delete process.env.NO_PROXY;
      delete process.env.no_proxy;
      bypassProxy(process.env);
      const connection = await Connection.connect({ address: process.env.TEST_TEMPORAL_ADDRESS as string });
      await connection.close();
    } finally {
      for (const [index, name] of names.entries())
        if (before[index] === undefined) delete process.env[name];
        else process.env[name] = before[index];
    }
  });
});
