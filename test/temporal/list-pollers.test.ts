import assert from 'node:assert/strict';
import { listChosen, listUnserved } from '../../temporal/list-pollers.ts';

const version = (buildId: string) => ({ deploymentName: 'weir', buildId });
const [V1, V2] = [version('1'), version('2')];

describe('what begins now goes to workers', () => {
  const cases: [string, Parameters<typeof listChosen>[0], { [state: string]: string | undefined }][] = [
    ['without a version, on a server that knows none', undefined, { current: undefined }],
    ['without a version while none is current', {}, { current: undefined }],
    ['of the current version', { currentDeploymentVersion: V1 }, { current: 'weir:1' }],
    [
      'of the current version and the ramping one',
      { currentDeploymentVersion: V1, rampingDeploymentVersion: V2, rampingVersionPercentage: 5 },
      { current: 'weir:1', ramping: 'weir:2' },
    ],
    [
      'of the current version and those without one that are ramping',
      { currentDeploymentVersion: V1, rampingVersionPercentage: 5 },
      { current: 'weir:1', ramping: undefined },
    ],
    [
      'of the current version alone while another ramps at 0%',
      { currentDeploymentVersion: V1, rampingDeploymentVersion: V2, rampingVersionPercentage: 0 },
      { current: 'weir:1' },
    ],
    [
      'of the ramping version alone at 100%',
      { currentDeploymentVersion: V1, rampingDeploymentVersion: V2, rampingVersionPercentage: 100 },
      { ramping: 'weir:2' },
    ],
  ];
  for (const [which, info, chosen] of cases)
    it(which, () =>
      assert.deepEqual(
        Object.fromEntries(listChosen(info).map(({ state, version }) => [state, version])),
        chosen,
      ),
    );
});

describe('the current and the ramping version', () => {
  const chosen = listChosen({
    currentDeploymentVersion: V1,
    rampingDeploymentVersion: V2,
    rampingVersionPercentage: 50,
  });
  for (const [polling, unserved] of [
    [[], ['current', 'ramping']],
    [['weir:1'], ['ramping']],
    [['weir:2'], ['current']],
    [
      [undefined, 'other:1'],
      ['current', 'ramping'],
    ],
    [['weir:1', 'weir:2'], []],
  ] as const)
    it(`lack workers while ${polling.join(' and ') || 'nothing'} polls: ${unserved.join(', ') || 'none'}`, () => {
      const pollers = polling.map((version) => ({ secondsAgo: 1, version }));
      assert.deepEqual(
        listUnserved({ pollers, chosen }).map(({ state }) => state),
        unserved,
      );
    });

  it('lack a worker that asked for work long ago', () => {
    const pollers = [
      { secondsAgo: 91, version: 'weir:1' },
      { secondsAgo: 90, version: 'weir:2' },
    ];
    assert.deepEqual(listUnserved({ pollers, chosen }), [{ state: 'current', version: 'weir:1' }]);
  });
});
