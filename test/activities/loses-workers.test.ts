import assert from 'node:assert/strict';
import { createLosesWorkers } from '../../activities/loses-workers.ts';

describe('whether a call loses its workers', () => {
  const lost = async () => true;

  it('is not asked of the engine for a call that the process knows', async () => {
    const losesWorkers = createLosesWorkers(() => true, lost);
    assert.equal(await losesWorkers('call', 30), false);
  });

  it('is so for every block of the workflow task, also once the first one has made the call known', async () => {
    const known = new Set<string>();
    const losesWorkers = createLosesWorkers((callId) => known.has(callId), lost);
    assert.equal(await losesWorkers('call', 30), true);
    known.add('call');
    assert.equal(await losesWorkers('call', 30), true);
    assert.equal(await losesWorkers('other', 30), true);
    assert.equal(await losesWorkers('call', 33), false);
  });
});
