import assert from 'node:assert/strict';
import { processStartTime } from '../../../dev/processes/end-process.ts';
import { itWith } from '../../where-available.ts';

describe('the identity of a process', () => {
  const { platform } = process;
  const { TZ } = process.env;
  after(() => {
    Object.defineProperty(process, 'platform', { value: platform });
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  });

  itWith(['ps'], 'is the same in every time zone, also where ps tells it', async () => {
    Object.defineProperty(process, 'platform', { value: 'darwin' });
    const [here, elsewhere] = ['Etc/UTC', 'Asia/Tokyo'].map((zone) => {
      process.env.TZ = zone;
      return processStartTime(process.pid);
    });
    assert.match(here ?? '', /\d\d:\d\d:\d\d/);
    assert.equal(elsewhere, here);
  });
});
