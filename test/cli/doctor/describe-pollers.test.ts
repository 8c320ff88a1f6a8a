import assert from 'node:assert/strict';
import { describePollers } from '../../../cli/doctor/check-engine.ts';
import type { ChosenVersion, Poller } from '../../../temporal/list-pollers.ts';

const QUEUE = { name: 'weir-webhooks', role: 'webhooks', work: 'deliveries' } as const;

const polled = (pollers: Poller[], chosen: ChosenVersion[] = [{ state: 'current', version: undefined }]) => ({
  pollers,
  chosen,
});

describe('what weir doctor says of workers', () => {
  for (const [secondsAgo, state, message] of [
    [[], 'error', 'No worker polls weir-webhooks: deliveries wait.'],
    [[140, 260], 'error', 'No worker polls weir-webhooks: deliveries wait. The last one was seen 140 s ago.'],
    [[7], 'ok', '1 worker polls weir-webhooks, last seen 7 s ago.'],
    [
      [7, 90, 91, 260],
      'ok',
      '2 workers poll weir-webhooks, last seen 7 s, 90 s ago. 2 more were last seen 91 s ago or longer.',
    ],
    [
      [1, 1, 2, 2, 3, 3],
      'ok',
      '6 workers poll weir-webhooks, last seen 1 s, 1 s, 2 s, 2 s, 3 s and more ago.',
    ],
  ] as const)
    it(`is right for those seen ${secondsAgo.join(', ') || 'never'} s ago`, () => {
      const found = describePollers(QUEUE, polled(secondsAgo.map((seconds) => ({ secondsAgo: seconds }))));
      assert.deepEqual([found.state, found.message], [state, message]);
    });

  it('is wrong where none of them is of the current version', () => {
    const old = { secondsAgo: 3, version: 'weir:1' };
    const found = describePollers(QUEUE, polled([old, old]));
    assert.deepEqual(
      [found.state, found.message],
      [
        'error',
        '2 workers poll weir-webhooks, none of the version that is current (workers without one): new deliveries wait.',
      ],
    );
    assert.equal(describePollers(QUEUE, polled([old, { secondsAgo: 4 }])).state, 'ok');
  });

  it('is wrong where none of them is of the current version, though some are of the ramping one', () => {
    const found = describePollers(
      QUEUE,
      polled(
        [{ secondsAgo: 3, version: 'weir:2' }],
        [
          { state: 'current', version: 'weir:1' },
          { state: 'ramping', version: 'weir:2' },
        ],
      ),
    );
    assert.deepEqual(
      [found.state, found.message],
      [
        'error',
        '1 worker polls weir-webhooks, none of the version that is current (weir:1): a share of the new deliveries wait.',
      ],
    );
  });

  it('names the role that a worker needs', () => {
    assert.match(
      describePollers(QUEUE, polled([])).mend ?? '',
      /whose WEIR_WORKER_ROLES has webhooks or is not set/,
    );
  });
});
