import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { hideBlock, showAttempt } from '../../../db/runs/blocks-under-way.ts';
import { fail, ROOT, useOperator } from '../cli-harness.ts';

describe('weir operator', () => {
  const { cli, weir, succeed, succeedJson } = useOperator();

  describe('runs', () => {
    const executionId = randomUUID();
    before(async () => {
      await succeed(
        'flow',
        'import',
        path.join(ROOT, 'examples/code.yaml'),
        '--project',
        'acme/main',
        '--production',
      );
      const version = await cli.database.db
        .selectFrom('flow_version')
        .innerJoin('flow', 'flow.id', 'flow_version.flow_id')
        .innerJoin('project', 'project.id', 'flow.project_id')
        .select(['flow_version.id', 'flow.id as flow_id', 'flow.project_id', 'project.organization_id'])
        .where('flow.slug', '=', 'code')
        .executeTakeFirstOrThrow();
      await cli.database.db
        .insertInto('run')
        .values({
          execution_id: executionId,
          organization_id: version.organization_id,
          project_id: version.project_id,
          flow_id: version.flow_id,
          flow_version_id: version.id,
          mode: 'execute',
          environment: 'live',
          status: 'completed',
          input: JSON.stringify({ message: 'two lines', parameters: {}, block_overrides: {} }),
          result: JSON.stringify({ ref: 'total' }),
          started_at: new Date(Date.UTC(2026, 0, 1)),
          finished_at: new Date(Date.UTC(2026, 0, 1, 0, 0, 2)),
        })
        .execute();
      for (const [index, block] of ['parse', 'total'].entries())
        await cli.database.db
          .insertInto('block_run')
          .values({
            execution_id: executionId,
            block_key: block,
            step_id: block,
            name: `Block \u001b[31m${block}`,
            processor_type: 'code',
            status: 'completed',
            input: JSON.stringify({ ref: index === 0 ? '$message' : 'parse' }),
            output: JSON.stringify({ from: block }),
            prompt_tokens: 30,
            completion_tokens: 12,
            cost_microcredits: 1500,
            latency_ms: 7,
            attempts: 2,
            started_at: new Date(Date.UTC(2026, 0, 1, 0, 0, index)),
            finished_at: new Date(Date.UTC(2026, 0, 1, 0, 0, index + 1)),
          })
          .execute();
    });

    it('lists runs by organization, project, flow and status', async () => {
      const [run] = await succeedJson('runs', 'list', 'acme/main/code', '--status', 'completed');
      assert.equal(run.executionId, executionId);
      assert.equal(run.durationMs, 2000);
      assert.equal(run.cost, 0.003);
      assert.match(
        await succeed('runs', 'list'),
        new RegExp(`${executionId} +acme/main/code +1 +execute +completed`),
      );
      assert.deepEqual(await succeedJson('runs', 'list', 'acme/main/code', '--status', 'failed'), []);
      const since = async (time: string) => (await succeedJson('runs', 'list', '--since', time)).length;
      assert.deepEqual([await since('2026-01-01'), await since('2026-01-01T00:00:01Z')], [1, 0]);
      await fail(2, weir('runs', 'list', '--since', 'yesterday'));
      assert.match(await fail(1, weir('runs', 'list', 'acme/mian')), /no project acme\/mian/);
      await fail(2, weir('runs', 'list', 'a/b/c/d'));
    });

    it('shows the block that a run is at, with the last refusal of its provider', async () => {
      const { db } = cli.database;
      const setStatus = (status: 'started' | 'completed') =>
        db.updateTable('run').set({ status }).where('execution_id', '=', executionId).execute();
      await setStatus('started');
      const block = { callId: executionId, blockKey: 'ask', stepId: 'ask', name: 'Ask' };
      const attempt = { ...block, processorType: 'llm' as const, attempts: 2, startedAt: performance.now() };
      await showAttempt(db, attempt, { message: 'The provider is busy.', retryInMs: 20_000 });
      assert.match(
        await succeed('runs', 'show', executionId),
        /\nretrying ask \(Ask\), attempt 2 failed, the next is at .*: The provider is busy\.\n/,
      );
      const { blocksUnderWay } = await succeedJson('runs', 'show', executionId);
      assert.deepEqual([blocksUnderWay.length, blocksUnderWay[0].status], [1, 'retrying']);
      await hideBlock(db, block);
      await setStatus('completed');
    });

    it('cancels a run that has not ended, once in the audit log', async () => {
      const asked = async () =>
        (
          await cli.database.db
            .selectFrom('run')
            .select('cancel_requested_at')
            .where('execution_id', '=', executionId)
            .executeTakeFirstOrThrow()
        ).cancel_requested_at;
      const setStatus = (status: 'started' | 'completed') =>
        cli.database.db.updateTable('run').set({ status }).where('execution_id', '=', executionId).execute();
      assert.equal((await succeedJson('runs', 'cancel', executionId)).status, 'completed');
      assert.equal(await asked(), null);
      assert.match(
        await succeed('runs', 'cancel', executionId),
        /^The run had ended before: nothing was cancelled\./,
      );
      await setStatus('started');
      assert.match(await succeed('runs', 'cancel', executionId), /^The run is being cancelled/);
      assert.notEqual(await asked(), null);
      await succeed('runs', 'cancel', executionId);
      const entries = await cli.database.db
        .selectFrom('audit_entry')
        .select(['actor', 'resource_id'])
        .where('action', '=', 'run.cancel')
        .execute();
      assert.deepEqual(entries, [{ actor: 'operator', resource_id: executionId }]);
      await setStatus('completed');
      await fail(1, weir('runs', 'cancel', randomUUID()));
    });

    it('shows a run with its blocks, and with --full their inputs and outputs', async () => {
      const shown = await succeed('runs', 'show', executionId);
      assert.match(shown, /^total +Block .* +completed +7 +42 +0\.0015 +2$/m);
      assert.match(shown, /^Result: \{"from":"total"\}$/m);
      assert.equal(shown.includes('\u001b'), false);
      const full = await succeedJson('runs', 'show', executionId, '--full');
      assert.deepEqual(
        full.blocks.map((block: { input: unknown; output: unknown }) => [block.input, block.output]),
        [
          ['two lines', { from: 'parse' }],
          [{ from: 'parse' }, { from: 'total' }],
        ],
      );
      assert.match(await fail(1, weir('runs', 'show', randomUUID())), /Run .* does not exist/);
    });

    it('cuts a long result unless --full asks for it', async () => {
      const setResult = (result: object) =>
        cli.database.db
          .updateTable('run')
          .set({ result: JSON.stringify(result) })
          .where('execution_id', '=', executionId)
          .execute();
      const long = 'x'.repeat(5_000);
      await setResult({ json: long });
      const cut = `Result: "${'x'.repeat(1_999)}… (5002 characters: runs show --full prints all)\n`;
      assert.ok((await succeed('runs', 'show', executionId)).endsWith(cut));
      assert.ok((await succeed('runs', 'cancel', executionId)).endsWith(cut));
      assert.ok((await succeed('runs', 'show', executionId, '--full')).endsWith(`Result: "${long}"\n`));
      await setResult({ ref: 'total' });
    });

    it('takes ids of runs alone', async () => {
      for (const args of [['show'], ['cancel']])
        assert.match(
          await fail(2, weir('runs', ...args, '123')),
          /'123' is invalid .*Give the id of a run as runs list prints it/,
        );
    });
  });
});
