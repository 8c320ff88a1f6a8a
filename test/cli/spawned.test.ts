// The other tests of the command line call the command in their process. Here the program itself runs, once per group.
import assert from 'node:assert/strict';
import { passthrough } from '../blocks.ts';
import { createOperatorKey } from '../operator-key.ts';
import { createOrganization, type Organization } from '../organization.ts';
import { getSharedWeir, type SharedWeir } from '../shared-weir.ts';
import { fail, spawnWeir } from './cli-harness.ts';

describe('weir as a program', () => {
  let weir: SharedWeir;
  let acme: Organization;
  let flow: string;
  let operator: string;
  before(async () => {
    weir = await getSharedWeir();
    acme = await createOrganization(weir, weir.provider);
    flow = await weir.createFlow(acme, [passthrough('a')]);
    operator = (await createOperatorKey(weir)).key;
  });
  after(() => weir.stop());

  const project = () => `${acme.organization}/project`;
  const asMember = () => ({ WEIR_URL: weir.url, WEIR_TOKEN: acme.token.member });

  const groups: [group: string, run: () => ReturnType<typeof spawnWeir>, output: RegExp][] = [
    ['that need no service', () => spawnWeir({}, ['--version']), /^\d+\.\d+\.\d+/],
    ['of flows', () => spawnWeir(asMember(), ['flow', 'list', project()]), /flow/],
    ['of runs', () => spawnWeir(asMember(), ['run', flow, '--message', 'hi', '--json']), /"executionId"/],
    ['of organizations', () => spawnWeir(asMember(), ['project', 'list', acme.organization]), /project/],
    ['of signing in', () => spawnWeir(asMember(), ['whoami']), /^User member-of-/],
    [
      'of operators',
      () => spawnWeir({ WEIR_URL: weir.url, WEIR_OPERATOR_KEY: operator }, ['operator', 'key', 'list']),
      /weir_operator_/,
    ],
  ];
  for (const [group, run, expected] of groups)
    it(`runs the commands ${group}`, async () => {
      const { code, stdout, stderr } = await run();
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, expected);
    });

  it('ends with 2 when it is called wrongly, and with 1 when it fails', async () => {
    await fail(2, spawnWeir({}, ['listen', '--forward-to', 'nonsense']));
    await fail(1, spawnWeir(asMember(), ['runs', 'list', `${flow}-typo`]));
  });
});
