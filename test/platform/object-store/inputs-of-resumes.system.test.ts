import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { asking, resumeOf, toolCall, useToolCalls } from '../../api/runs/tool-calls-harness.ts';
import { code } from '../../blocks.ts';
import { answer, callTools } from '../../fakes/model-server.ts';
import { BUILD_MAX_MS } from './s3-binary.ts';
import { describeWithS3, type S3Server, startS3Server } from './s3-server.ts';

const LARGE = 300_000;

describeWithS3('a tool resume that sends large outputs', function () {
  this.timeout(BUILD_MAX_MS);
  const env: NodeJS.ProcessEnv = {};
  let server: S3Server;
  before(async () => {
    server = await startS3Server();
    Object.assign(env, server.env);
  });
  const h = useToolCalls({ env });
  after(() => server.stop());

  it('is stored in the object store, goes on from there, and may pause again', async () => {
    const make = code('make', `return ''.padEnd(${LARGE}, 'x');`);
    const sizes = code('sizes', 'return [input, outputs.make.length];');
    const flow = await h.weir.createFlow(h.tenant, [make, asking('ask', 'Paris?'), sizes]);
    h.models.will(callTools([toolCall('c')]));
    const paused = await h.pause(flow);
    assert.equal(paused.accumulatedOutputs.make.length, LARGE);
    h.models.will(callTools([toolCall('d')]));
    const again = await h.pause(flow, resumeOf(paused));
    assert.equal(again.accumulatedOutputs.make.length, LARGE);
    h.models.will(answer('sunny'));
    const { body } = await h.execute(flow, resumeOf(again));
    assert.deepEqual([body.status, body.result], ['completed', ['sunny', LARGE]], body.errorMessage);
    const replayed = await h.execute(flow, resumeOf(paused));
    assert.deepEqual(replayed.body, again);
    const calls = await h.weir.db
      .selectFrom('run')
      .select(['execution_id', sql<boolean>`input is null`.as('elsewhere')])
      .where('continues', '=', paused.executionId)
      .execute();
    assert.deepEqual(
      calls.map(({ elsewhere }) => elsewhere),
      [true, true],
    );
    const keys = await server.keys('/request-');
    assert.equal(keys.length, 2);
    for (const { execution_id } of calls) assert.ok(keys.some((key) => key.includes(execution_id)));
  });
});
