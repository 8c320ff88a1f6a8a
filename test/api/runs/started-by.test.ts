import assert from 'node:assert/strict';
import { passthrough } from '../../blocks.ts';
import { useManagement } from '../organizations/management-harness.ts';

describe('a run', () => {
  const { management, call } = useManagement();

  it('says which user started it, or which API key', async () => {
    const { weir, acme } = management;
    const path = `/seq/${await weir.createFlow(acme, [passthrough('a')])}`;
    const starter = async (token: string) => {
      const { body: started } = await call('POST', `${path}/v1/jobs`, { message: 'm' }, token);
      const { startedBy, keyId } = (await call('GET', `${path}/jobs/${started.executionId}`)).body;
      const [listed] = (await call('GET', `${path}/runs?limit=1`)).body.runs;
      assert.deepEqual([listed.startedBy, listed.keyId], [startedBy, keyId]);
      return [startedBy, keyId];
    };
    assert.deepEqual(await starter(acme.token.member), [acme.users.member, null]);
    assert.deepEqual(await starter(acme.key), [null, acme.keyId]);
  });
});
