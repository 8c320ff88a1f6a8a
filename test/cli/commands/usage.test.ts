import assert from 'node:assert/strict';
import { type IdentityProvider, startIdentityProvider } from '../../fakes/identity-provider.ts';
import { startWeir, type Weir } from '../../harness.ts';
import { fail, weirIn } from '../cli-harness.ts';

describe('weir usage', () => {
  let provider: IdentityProvider;
  let weir: Weir;
  before(async () => {
    provider = await startIdentityProvider();
    weir = await startWeir({ worker: false, env: provider.env });
  });
  after(async () => {
    await weir.stop();
    await provider.close();
  });

  it('sums up by day, flow or key, for an organization and a project', async () => {
    const env = {
      WEIR_STATE_DIR: '/nonexistent',
      WEIR_URL: weir.url,
      WEIR_TOKEN: await provider.token('ann'),
    };
    const run = (...args: string[]) => weirIn(env, args);
    await run('org', 'create', 'acme');
    await run('project', 'create', 'acme/main');
    for (const args of [
      ['acme'],
      ['acme/main', '--by', 'flow', '--from', '2026-01-01', '--to', '2026-01-02'],
    ]) {
      const { code, stderr } = await run('usage', ...args);
      assert.equal(code, 0, stderr);
    }
    assert.match(await fail(2, run('usage', 'acme/main/hello')), /must be a path: org or org\/project/);
    assert.match(await fail(2, run('usage', 'acme', '--from', 'soon')), /It must be a day/);
    await fail(2, run('usage', 'acme', '--by', 'moon'));
  });
});
