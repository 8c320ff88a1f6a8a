import assert from 'node:assert/strict';
import { createInProcessRuns } from '../../../activities/in-process-runs.ts';
import { getRunInput } from '../../../db/runs/runs.ts';
import { createStepClient } from '../../api/runs/step-client.ts';
import { code } from '../../blocks.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';
import { readInputColumn } from './read-input-column.ts';
import { BUILD_MAX_MS } from './s3-binary.ts';
import { describeWithS3, type S3Server, startS3Server } from './s3-server.ts';

const LARGE = 100_000;
const large = (text: string) => text.padEnd(LARGE, 'x');

describeWithS3('large inputs of a session', function () {
  this.timeout(BUILD_MAX_MS);
  const inProcessRuns = createInProcessRuns();
  let server: S3Server;
  let weir: Weir;
  let tenant: Tenant;
  before(async () => {
    server = await startS3Server();
    weir = await startWeir({ env: { ...server.env, WEIR_OBJECT_STORE_MIN_BYTES: '65536' }, inProcessRuns });
    tenant = await weir.createTenant();
  });
  after(async () => {
    await weir.stop();
    await server.stop();
  });

  it('are in the object store for itself and each call; a first step that runs again replaces its own', async () => {
    const client = await createStepClient(weir, tenant);
    const flow = await weir.createFlow(tenant, [
      code('make', 'return message;'),
      code('count', 'return [message.length, input.length, outputs.make.length];'),
    ]);
    const step = async (body: object) => {
      inProcessRuns.contexts.clear();
      const events = await client.step(flow, body);
      assert.ok(
        events.every(({ event }) => event !== 'run_failed'),
        JSON.stringify(events),
      );
      return events;
    };
    const first = await step({ stepIndex: 0, message: large('first') });
    const executionId = first[0]?.data.executionId;
    assert.equal((await server.keys(`${executionId}/request-`)).length, 1);
    assert.ok((await readInputColumn(weir.db, executionId)).elsewhere);
    /** Objects of the session that are in use, and others that are not to be deleted. */
    const stored = async () => {
      const rows = await weir.db
        .selectFrom('stored_object')
        .select('linked')
        .where('execution_id', '=', executionId)
        .where('block_key', '=', '')
        .where('doomed_at', 'is', null)
        .execute();
      return rows.map(({ linked }) => linked);
    };
    await step({ executionId, stepIndex: 0, message: large('second') });
    assert.equal((await getRunInput(weir.db, executionId)).message, large('second'));
    assert.deepEqual(await stored(), [true]);
    const last = await step({ executionId, stepIndex: 1, accumulatedOutputs: { make: large('own') } });
    assert.match(JSON.stringify(last), new RegExp(`\\[${LARGE},${LARGE},${LARGE}\\]`));
    await step({ executionId, stepIndex: 0, message: 'small' });
    assert.equal(JSON.parse((await readInputColumn(weir.db, executionId)).text).message, 'small');
    assert.deepEqual(await stored(), []);
  });
});
