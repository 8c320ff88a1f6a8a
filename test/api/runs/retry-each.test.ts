import assert from 'node:assert/strict';
import { callerGone } from '../../../api/http/request-errors.ts';
import { type Retrier, retryEach } from '../../../api/runs/retry-each.ts';
import { createFlowDefinitions } from '../../../db/flows/flow-definitions.ts';
import { listRunsById } from '../../../db/runs/list-runs.ts';
import { createValidator } from '../../../platform/json-schema/validator.ts';
import { openRegistry } from '../../../platform/models/live-registry.ts';
import { createResolvePublic } from '../../../platform/net/resolve-public.ts';
import { code } from '../../blocks.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';

describe('retryEach', () => {
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  before(async () => {
    const WEIR_TEST_DIAL_MAP = JSON.stringify({ 'images.example': '127.0.0.1:9' });
    weir = await startWeir({ env: { WEIR_TEST_DIAL_MAP } });
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, [code('a', 'throw new Error("no");')]);
  });
  after(() => weir.stop());

  const fail = async (more: object = {}): Promise<string> => {
    const body = { message: 'm', ...more };
    return (await weir.call('POST', `${flow}/execute`, { key: tenant.key, body })).body.executionId;
  };

  async function retry(ids: string[], more: Partial<Retrier> = {}) {
    const validator = createValidator();
    const registry = await openRegistry(weir.config);
    try {
      const { projectId } = tenant;
      const runs = await listRunsById(weir.db, ids);
      const { db, config, httpGates: gates, largeValues } = weir;
      const deps = {
        ...{ db, config, gates, largeValues, validator, registry, definitions: createFlowDefinitions(db) },
        resolvePublic: createResolvePublic({ lookup: () => Promise.reject(new Error('SERVFAIL')) }),
      };
      const inOrder = ids.flatMap((id) => runs.filter((run) => run.execution_id === id));
      const retrier = { onVersion: 'original' as const, within: { projectId }, projectId, requestId: 'r' };
      return await retryEach(deps, inOrder, { ...retrier, ...more });
    } finally {
      registry.close();
      await validator.close();
    }
  }

  it('refuses a run whose host cannot be looked up, and goes on with the others', async () => {
    const image = { kind: 'url', url: 'https://images.example/a.png', mime_type: 'image/png' };
    const [unknown, plain] = [await fail({ attachments: [image] }), await fail()];
    const { retried, refused, stoppedBy } = await retry([unknown, plain]);
    assert.deepEqual(
      refused.map((run) => [run.executionId, run.code]),
      [[unknown, 'DNS_UNAVAILABLE']],
    );
    assert.deepEqual([retried.map((run) => run.repeats), stoppedBy], [[plain], null]);
  });

  it('stops when its caller has gone, and refuses no run for that', async () => {
    const [first, second] = [await fail(), await fail()];
    let accepted = 0;
    const { retried, refused, stoppedBy, last } = await retry([first, second], {
      async inTurn(_flow, accept) {
        accepted += 1;
        if (accepted > 1) throw callerGone();
        return accept();
      },
    });
    assert.deepEqual([retried.map((run) => run.repeats), refused, last], [[first], [], first]);
    assert.equal(stoppedBy?.code, 'REQUEST_TIMEOUT');
  });
});
