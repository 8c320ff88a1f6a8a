import assert from 'node:assert/strict';
import { getsNew } from '../../engine/list-pollers.ts';

const VERSIONED = 2;
const UNVERSIONED = 1;
const version = (buildId: string) => ({ deploymentName: 'weir', buildId });
const worker = (buildId: string) => ({ ...version(buildId), workerVersioningMode: VERSIONED });
const [V1, V2, OTHER] = [version('1'), version('2'), { deploymentName: 'other', buildId: '1' }];

describe('what begins now goes to workers', () => {
  const without = { workerVersioningMode: UNVERSIONED };
  const cases: [string, Parameters<typeof getsNew>[0], Parameters<typeof getsNew>[1], boolean][] = [
    ['without a version, on a server that knows none', undefined, undefined, true],
    ['without a version while none is current', without, {}, true],
    ['without a version once one is current', without, { currentDeploymentVersion: V1 }, false],
    [
      'without a version that are ramping',
      without,
      { currentDeploymentVersion: V1, rampingVersionPercentage: 5 },
      true,
    ],
    ['of the current version', worker('1'), { currentDeploymentVersion: V1 }, true],
    ['of a version while none is current', worker('1'), {}, false],
    ['of another version', worker('2'), { currentDeploymentVersion: V1 }, false],
    ['of the same version of another deployment', worker('1'), { currentDeploymentVersion: OTHER }, false],
    [
      'of the ramping version',
      worker('2'),
      { currentDeploymentVersion: V1, rampingDeploymentVersion: V2, rampingVersionPercentage: 5 },
      true,
    ],
    [
      'of a version that is ramping at 0%',
      worker('2'),
      { currentDeploymentVersion: V1, rampingDeploymentVersion: V2, rampingVersionPercentage: 0 },
      false,
    ],
  ];
  for (const [which, own, chosen, gets] of cases)
    it(`${which}: ${gets ? 'yes' : 'no'}`, () => assert.equal(getsNew(own, chosen), gets));
});
