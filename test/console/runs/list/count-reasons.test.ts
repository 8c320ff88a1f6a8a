import assert from 'node:assert/strict';
import { countReasons } from '../../../../console/runs/run.ts';

describe('the reasons for which runs were not retried', () => {
  it('are counted by code, whichever run the message names', () => {
    const refuse = (code: 'CONFLICT' | 'INTERNAL_ERROR', errorMessage: string) => ({
      ...{ executionId: 'run', code, errorMessage },
    });
    const reasons = countReasons([
      refuse('INTERNAL_ERROR', 'Its request is not stored any more.'),
      refuse('CONFLICT', 'This run was run again already, as 1.'),
      refuse('CONFLICT', 'This run was run again already, as 2.'),
    ]);
    assert.deepEqual(reasons, [
      ['cancelled, or run again since', 2],
      ['Its request is not stored any more.', 1],
    ]);
  });
});
