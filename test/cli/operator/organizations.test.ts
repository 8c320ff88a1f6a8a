import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { getSharedWeir, type SharedWeir } from '../../shared-weir.ts';
import { fail, ROOT } from '../cli-harness.ts';
import { createOperator, type Operator } from '../operator-cli.ts';

type Entry = { actor: string; action: string; details: object };

describe('an operator, with weir', () => {
  let weir: SharedWeir;
  let operator: Operator;
  let org: string;
  before(async () => {
    weir = await getSharedWeir();
    operator = await createOperator(weir);
  });
  beforeEach(async () => {
    org = `org-${randomUUID().slice(0, 8)}`;
    await operate('org', 'create', org, '--name', 'Acme');
  });
  after(() => weir.stop());

  const operate = (...args: string[]) => operator.succeed('operator', ...args);
  const refused = (code: number, ...args: string[]) => fail(code, operator.run('operator', ...args));
  const listed = async () => {
    const all: { slug: string; [field: string]: unknown }[] = await operator.succeedJson(
      'operator',
      'org',
      'list',
    );
    return all.find(({ slug }) => slug === org) ?? assert.fail();
  };
  const logged = async (action?: string): Promise<Entry[]> =>
    (await operator.succeedJson('audit-log', org, ...(action ? ['--action', action] : []))).toReversed();

  it('creates organizations, and lists all with their credits and runs in flight', async () => {
    assert.match(await operate('org', 'list'), new RegExp(`^${org} +Acme +[\\da-f-]{36} +0 +0 +-$`, 'm'));
    assert.match(await refused(1, 'org', 'create', org), /There is already an organization with the slug/);
    assert.match(await refused(2, 'org', 'create', 'Not A Slug'), /lower-case/);
    const { organization } = await weir.createTenant();
    assert.match(await operate('org', 'list'), new RegExp(`^${organization} .* 1000 +0 +-$`, 'm'));
  });

  it('sets the quota of an organization, takes that back, and is recorded when that changes something', async () => {
    assert.equal(await operate('org', 'set-quota', org, '500'), `${org} may have 500 runs under way.\n`);
    await operate('org', 'set-quota', org, '500');
    assert.equal((await listed()).runsUnderWayMax, 500);
    assert.match(await operate('org', 'set-quota', org, 'unlimited'), /any number of runs/);
    assert.equal((await listed()).runsUnderWayMax, 0);
    assert.match(await operate('org', 'set-quota', org, 'default'), /as WEIR_RUNS_UNDER_WAY_MAX says/);
    assert.equal((await listed()).runsUnderWayMax, null);
    assert.deepEqual(
      (await logged('organization.set_quota')).map(({ actor, details }) => [actor, details]),
      [500, 0, null].map((runsUnderWay) => [operator.actor, { runsUnderWay }]),
    );
  });

  it('is told how to write any number, and how to stop an organization, for a quota of 0', async () => {
    for (const zero of ['0', '00']) {
      const said = await refused(2, 'org', 'set-quota', org, zero);
      assert.match(said, /Write unlimited for any number \(which 0 means in WEIR_RUNS_UNDER_WAY_MAX alone\)/);
      assert.match(said, /weir operator org suspend <slug>/);
    }
    for (const runs of ['-1', '1.5', 'many', '1000001'])
      await refused(2, 'org', 'set-quota', org, '--', runs);
  });

  it('suspends an organization and lets it go on, each recorded when that changes something', async () => {
    assert.match(await operate('org', 'resume', org), /is not suspended/);
    const said = await operate('org', 'suspend', org, '--reason', ' runaway loop ');
    assert.match(said, /has been suspended since .*Z: it can begin and continue no runs\.\n/);
    assert.match(said, /told the reason: runaway loop\n/);
    assert.match(
      said,
      /weir runs cancel --organization \S+ --status started\n.*weir operator org resume \S+\n$/,
    );
    const { suspendedAt, suspensionReason } = await listed();
    assert.equal(suspensionReason, 'runaway loop');
    assert.match(await operate('org', 'list'), new RegExp(`^${org} .*Z: runaway loop$`, 'm'));
    const again = await operator.succeedJson('operator', 'org', 'suspend', org);
    assert.deepEqual([again.suspendedAt, again.suspensionReason], [suspendedAt, 'runaway loop']);
    const other = await operator.succeedJson('operator', 'org', 'suspend', org, '--reason', 'unpaid');
    assert.deepEqual([other.suspendedAt, other.suspensionReason], [suspendedAt, 'unpaid']);
    assert.match(await operate('org', 'resume', org), /can begin and continue runs\.$/m);
    assert.deepEqual(
      (await logged()).slice(1).map(({ actor, action, details }) => [actor, action, details]),
      [
        [operator.actor, 'organization.suspend', { reason: 'runaway loop' }],
        [operator.actor, 'organization.suspend', { reason: 'unpaid' }],
        [operator.actor, 'organization.resume', {}],
      ],
    );
    for (const reason of [' ', 'x'.repeat(501)])
      assert.match(await refused(2, 'org', 'suspend', org, '--reason', reason), /1 to 500 characters/);
  });

  it('names an organization that is not there, whatever is asked of it', async () => {
    for (const args of [
      ['org', 'suspend', 'nobody-here'],
      ['org', 'resume', 'nobody-here'],
      ['org', 'set-quota', 'nobody-here', '5'],
      ['credits', 'grant', 'nobody-here', '5'],
      ['member', 'set-role', 'nobody-here', 'ada', 'owner'],
    ])
      assert.match(await refused(1, ...args), /The organization nobody-here does not exist/);
  });

  it('grants credits, once per key', async () => {
    const grant = ['credits', 'grant', org, '12.5', '--idempotency-key', 'invoice-1'];
    const replayed = async () => {
      const { replayed, balance } = await operator.succeedJson('operator', ...grant);
      return [replayed, balance];
    };
    assert.deepEqual(
      [await replayed(), await replayed()],
      [
        [false, 12.5],
        [true, 12.5],
      ],
    );
    await refused(2, 'credits', 'grant', org, '0');
    await refused(2, 'credits', 'grant', org, '1e3');
  });

  it('gives any role, also that of the first owner, and may leave an organization without one', async () => {
    assert.equal(
      await operate('member', 'set-role', org, 'ada|1', 'owner'),
      `ada|1 is now owner of ${org}.\n`,
    );
    assert.match(await operator.succeed('member', 'list', org), /^ada\|1 .* owner /m);
    await operate('member', 'set-role', org, 'ada|1', 'member');
    await operate('member', 'set-role', org, 'ada|1', 'member');
    await operator.succeed('member', 'remove', org, 'ada|1');
    await refused(2, 'member', 'set-role', org, 'ada|1', 'king');
    assert.deepEqual(
      (await logged()).slice(1).map(({ action }) => action),
      ['member.add', 'member.update', 'member.remove'],
    );
  });

  it('sets up an organization of which the operator is no member, with the commands of its owner', async () => {
    const project = `${org}/main`;
    await operator.succeed('project', 'create', project);
    assert.match(await operator.succeed('project', 'list', org), new RegExp(`^${project} +main$`, 'm'));
    assert.match(await operator.succeed('project', 'list'), new RegExp(`^${project} +main$`, 'm'));
    await operator.succeed('member', 'add', org, 'bea', '--role', 'admin');
    const { key } = await operator.succeedJson('key', 'create', project, '--name', 'ci');
    assert.match(key, /^weir_live_/);
    const example = path.join(ROOT, 'examples/parallel.yaml');
    await operator.succeed('flow', 'push', example, '--project', project, '--production', '--note', 'first');
    await operate('credits', 'grant', org, '10');
    assert.match(await operator.succeed('credits', 'show', org), /^10 credits/);
    assert.match(
      await operator.succeed('flow', 'list', project),
      /^parallel +Article review +published +1 +1 /m,
    );
    assert.deepEqual(
      (await logged()).map(({ actor, action }) => [actor, action]),
      [
        'organization.create',
        'project.create',
        'member.add',
        'api_key.create',
        'flow.create',
        'flow.edit',
        'flow.publish',
        'flow.set_production',
        'credits.grant',
      ].map((action) => [operator.actor, action]),
    );
  });

  it('deletes an organization by its name', async () => {
    assert.match(await fail(2, operator.run('org', 'delete', org, '--confirm', 'other')), /must be org-/);
    assert.match(await operator.succeed('org', 'delete', org, '--confirm', org), /^Deleted organization/);
    assert.match(await fail(1, operator.run('org', 'delete', org, '--confirm', org)), /does not exist/);
  });
});
