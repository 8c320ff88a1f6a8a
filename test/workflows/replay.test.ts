import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import type { Config } from '../../platform/config/config.ts';
import { createDataConverter } from '../../temporal/data-converter.ts';
import { installRuntime } from '../../temporal/install-runtime.ts';
import { withSettings } from '../../worker/queue-worker.ts';
import { testWorkflowBundle } from '../workflow-bundle.ts';
import { HISTORY_NAMES } from './recorded-flows.ts';

const HISTORIES = path.join(import.meta.dirname, '..', 'histories');

describe('replay', () => {
  const files = readdirSync(HISTORIES).filter((file) => file.endsWith('.json'));

  it('has every history that was recorded', () =>
    assert.deepEqual(files.toSorted(), HISTORY_NAMES.map((name) => `${name}.json`).toSorted()));

  const key = { id: 'one', key: Buffer.alloc(32, 1) };
  const waysToStore = {
    '': { keys: [], encrypts: false },
    ', after encryption was turned on': { keys: [key], encrypts: true },
  };
  for (const [when, temporalEncryption] of Object.entries(waysToStore))
    it(`replays every stored history with the workflows as they are${when}`, () =>
      replayAll(temporalEncryption));

  async function replayAll(temporalEncryption: Config['temporalEncryption']): Promise<void> {
    installRuntime();
    const histories = files.map((file) => ({
      workflowId: file,
      history: JSON.parse(readFileSync(path.join(HISTORIES, file), 'utf8')),
    }));
    // A history replays under any settings.
    const settings = { temporalEncryption, heartbeatTimeoutMs: 1_000 };
    const results = Worker.runReplayHistories(
      {
        workflowBundle: await withSettings(settings, await testWorkflowBundle()),
        dataConverter: createDataConverter({ temporalEncryption }),
      },
      histories,
    );
    const replayed: string[] = [];
    for await (const { workflowId, error } of results) {
      assert.equal(error, undefined, workflowId);
      replayed.push(workflowId);
    }
    assert.deepEqual(replayed.sort(), files.sort());
  }

  it('fails for a history that the workflows would not have made', async () => {
    const history = JSON.parse(readFileSync(path.join(HISTORIES, 'parallel.json'), 'utf8'));
    const text = JSON.stringify(history).replaceAll('"callModel"', '"other"');
    await assert.rejects(
      Worker.runReplayHistory({ workflowBundle: await testWorkflowBundle() }, JSON.parse(text)),
      DeterminismViolationError,
    );
  });
});
