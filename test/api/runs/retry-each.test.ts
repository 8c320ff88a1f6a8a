import assert from 'node:assert/strict';
import { retryEach } from '../../../api/runs/retry-each.ts';
import { createFlowDefinitions } from '../../../db/flows/flow-definitions.ts';
import { listRunsById } from '../../../db/runs/list-runs.ts';
import { createValidator } from '../../../platform/json-schema/validator.ts';
import { openRegistry } from '../../../platform/models/live-registry.ts';
import { createResolvePublic } from '../../../platform/net/resolve-public.ts';
import { code } from '../../blocks.ts';
import { startWeir } from '../../harness.ts';

describe('retryEach', () => {
  it('refuses a run whose host cannot be looked up, and goes on with the others', async () => {
    const WEIR_TEST_DIAL_MAP = JSON.stringify({ 'images.example': '127.0.0.1:9' });
    const weir = await startWeir({ env: { WEIR_TEST_DIAL_MAP } });
    const validator = createValidator();
    const registry = await openRegistry(weir.config);
    try {
      const { key, projectId, ...tenant } = await weir.createTenant();
      const flow = await weir.createFlow({ key, projectId, ...tenant }, [
        code('a', 'throw new Error("no");'),
      ]);
      const fail = async (more: object): Promise<string> => {
        const body = { message: 'm', ...more };
        return (await weir.call('POST', `${flow}/execute`, { key, body })).body.executionId;
      };
      const image = { kind: 'url', url: 'https://images.example/a.png', mime_type: 'image/png' };
      const [unknown, plain] = [await fail({ attachments: [image] }), await fail({})];
      const runs = await listRunsById(weir.db, [unknown, plain]);
      const { db, config, httpGates: gates, largeValues } = weir;
      const deps = {
        ...{ db, config, gates, largeValues, validator, registry, definitions: createFlowDefinitions(db) },
        resolvePublic: createResolvePublic({ lookup: () => Promise.reject(new Error('SERVFAIL')) }),
      };
      const inOrder = [unknown, plain].flatMap((id) => runs.filter((run) => run.execution_id === id));
      const retrier = { onVersion: 'original' as const, within: { projectId }, projectId, requestId: 'r' };
      const { retried, refused, stoppedBy } = await retryEach(deps, inOrder, retrier);
      assert.deepEqual(
        refused.map((run) => [run.executionId, run.code]),
        [[unknown, 'DNS_UNAVAILABLE']],
      );
      assert.deepEqual([retried.map((run) => run.repeats), stoppedBy], [[plain], null]);
    } finally {
      registry.close();
      await validator.close();
      await weir.stop();
    }
  });
});
