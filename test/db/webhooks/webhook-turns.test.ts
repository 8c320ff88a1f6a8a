import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { insertOrganization } from '../../../db/tenants/organizations.ts';
import { insertTestDelivery } from '../../../db/webhooks/open-deliveries.ts';
import {
  awaitTurns,
  dropLapsedTurns,
  endTurn,
  giveTurns,
  HOST_MAX,
  listWaitingHosts,
  ORGANIZATION_MAX,
  PAIR_MAX,
  takeTurn,
} from '../../../db/webhooks/webhook-turns.ts';
import type { DeliveryCall } from '../../../flow/delivery.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';
import { watchStatements } from '../watch-statements.ts';

describe('turns of webhook deliveries', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  /** In the order of their ids, in which turns go from one to the next. */
  const organizations = async (count: number) => {
    const made = Array.from({ length: count }, async () => {
      const slug = `org-${randomUUID()}`;
      return (await insertOrganization(database.db, { slug, name: slug })).id;
    });
    return (await Promise.all(made)).sort();
  };
  const record = async (organizationId: string, host: string): Promise<DeliveryCall> => {
    const call = { deliveryId: randomUUID(), round: 1, made: 0, event: 'flow.failed', host } as const;
    const { deliveryId: id, event } = call;
    const delivery = { id, organizationId, event, url: `https://${host}/`, body: '{}' };
    await insertTestDelivery(database.db, delivery);
    return { ...call, organizationId };
  };
  const recordMany = (count: number, organizationId: string, host: string) =>
    Promise.all(Array.from({ length: count }, () => record(organizationId, host)));
  /** Who of them has got a turn. */
  const take = async (calls: DeliveryCall[]) => {
    const taken = await Promise.all(calls.map((call) => takeTurn(database.db, call)));
    return calls.filter((_call, index) => taken[index]);
  };
  const freshHost = () => `${randomUUID()}.example.com`;
  const give = async (host: string, after: string, atMost: number) =>
    (await giveTurns(database.db, { host, after, atMost })).map(({ call }) => call);
  const ids = (calls: DeliveryCall[]) => calls.map((call) => call.deliveryId).sort();

  it(`are ${PAIR_MAX} of one organization at a host, ${HOST_MAX} of all, also when all ask at once`, async () => {
    const host = freshHost();
    const owners = await organizations(HOST_MAX / PAIR_MAX + 1);
    const calls = await Promise.all(owners.map((owner) => recordMany(PAIR_MAX + 5, owner, host)));
    assert.equal((await take(calls[0] ?? [])).length, PAIR_MAX);
    const taken = await take(calls.slice(1).flat());
    assert.equal(taken.length, HOST_MAX - PAIR_MAX);
    const counts = Map.groupBy(taken, ({ organizationId }) => organizationId).values();
    for (const { length } of counts) assert(length <= PAIR_MAX);
  });

  it(`are ${ORGANIZATION_MAX} of one organization, whatever its hosts; another one has its own`, async () => {
    const [busy = '', other = ''] = await organizations(2);
    let taken = 0;
    for (let host = 0; host < ORGANIZATION_MAX + 10; host += 1)
      taken += (await take([await record(busy, freshHost())])).length;
    assert.equal(taken, ORGANIZATION_MAX);
    assert.equal((await take([await record(other, freshHost())])).length, 1);
  });

  it('are given in one statement with the time at which the delivery is looked at, in case the giver dies', async () => {
    const host = freshHost();
    const [owner = ''] = await organizations(1);
    const calls = await recordMany(PAIR_MAX + 1, owner, host);
    const [first] = await take(calls);
    await endTurn(database.db, first as DeliveryCall);
    let statements = 0;
    const counted = watchStatements(database.db, () => {
      statements += 1;
    });
    const [given] = await giveTurns(counted, { host, after: owner, atMost: 1 });
    const { rows } = await sql<{ soon: boolean }>`
      select check_at < now() + interval '1 minute' as soon from webhook_delivery
      where id = ${given?.call.deliveryId ?? null}`.execute(database.db);
    assert.deepEqual([statements, rows], [1, [{ soon: true }]]);
  });

  it('stay with whoever asks again, and are queued for once', async () => {
    const host = freshHost();
    const [owner = ''] = await organizations(1);
    const calls = await recordMany(PAIR_MAX + 1, owner, host);
    const taken = await take(calls);
    assert.deepEqual(ids(await take(calls)), ids(taken));
    for (const call of taken) assert.deepEqual(await endTurn(database.db, call), [host]);
    assert.equal((await give(host, owner, PAIR_MAX)).length, 1);
  });

  it('are not taken past those who wait and may begin: of the same organization, nor of another', async () => {
    const host = freshHost();
    const [busy = '', other = ''] = await organizations(2);
    const calls = await recordMany(PAIR_MAX + 1, busy, host);
    const taken = await take(calls);
    const waiting = calls.find((call) => !taken.includes(call)) as DeliveryCall;
    await endTurn(database.db, taken[0] as DeliveryCall);
    const later = await record(busy, host);
    const others = await recordMany(2, other, host);
    assert.deepEqual(await take([later, ...others]), []);
    const given = await give(host, other, PAIR_MAX);
    assert.deepEqual(given[0], waiting);
    assert.deepEqual(ids(given.slice(1)), ids(others));
  });

  it('are taken by whoever has waited longest in an organization, and past those who may not begin', async () => {
    const host = freshHost();
    const [busy = '', other = ''] = await organizations(2);
    const taken = await take(await recordMany(PAIR_MAX, busy, host));
    const [first, second] = await recordMany(2, busy, host);
    for (const call of [first, second]) assert.deepEqual(await take([call as DeliveryCall]), []);
    assert.equal((await take([await record(other, host)])).length, 1);
    await endTurn(database.db, taken[0] as DeliveryCall);
    assert.deepEqual(await take([second as DeliveryCall]), []);
    assert.deepEqual(await take([first as DeliveryCall]), [first]);
  });

  it('stay with whoever comes late for them, while others wait', async () => {
    const host = freshHost();
    const [owner = ''] = await organizations(1);
    const taken = await take(await recordMany(PAIR_MAX + 1, owner, host));
    await sql`update webhook_turn set held_until = now() + interval '1 second'
      where host = ${host} and held_until is not null`.execute(database.db);
    assert.deepEqual(ids(await take(taken)), ids(taken));
  });

  it('go from organization to organization: a burst of one does not come before another', async () => {
    const host = freshHost();
    const owners = await organizations(3);
    const [first = '', second = '', third = ''] = owners;
    const calls = await Promise.all([
      recordMany(50, first, host),
      recordMany(2, second, host),
      recordMany(2, third, host),
    ]);
    for (const waiting of calls) await database.db.transaction().execute((tx) => awaitTurns(tx, waiting));
    const given = await give(host, second, 8);
    assert.deepEqual(
      given.map(({ organizationId }) => owners.indexOf(organizationId)),
      [2, 0, 1, 2, 0, 1, 0, 0],
    );
  });

  it('that one organization leaves also go to what waits at other hosts because of it', async () => {
    const [owner = ''] = await organizations(1);
    const hosts = Array.from({ length: ORGANIZATION_MAX + 1 }, freshHost).sort();
    const calls = await Promise.all(hosts.map((host) => record(owner, host)));
    // One after another: two that ask at the same moment, at different hosts, do not see each other's turns.
    const taken: DeliveryCall[] = [];
    for (const call of calls) taken.push(...(await take([call])));
    const waiting = calls.find((call) => !taken.includes(call));
    assert.deepEqual(await endTurn(database.db, taken[7] as DeliveryCall), [waiting?.host]);
    assert.deepEqual(await give(waiting?.host ?? '', owner, 1), [waiting]);
  });

  it('are not given to deliveries that have ended or were sent again; their workflows are told', async () => {
    const host = freshHost();
    const [owner = ''] = await organizations(1);
    const [ended, anew, open] = (await recordMany(3, owner, host)) as [
      DeliveryCall,
      DeliveryCall,
      DeliveryCall,
    ];
    await database.db.transaction().execute((tx) => awaitTurns(tx, [ended, anew, open]));
    const change = (call: DeliveryCall, values: object) =>
      database.db.updateTable('webhook_delivery').set(values).where('id', '=', call.deliveryId).execute();
    await change(ended, { status: 'dead_letter' });
    await change(anew, { round: 2 });
    const given = await giveTurns(database.db, { host, after: owner, atMost: 1 });
    assert.deepEqual(
      given.map(({ call, isOpen }) => [call.deliveryId, call.round, isOpen]),
      [ended, anew, open].map((call) => [call.deliveryId, 1, call === open]),
    );
    assert.equal((await listWaitingHosts(database.db, 1_000)).includes(host), false);
  });

  it('lapse when their holders do not come back', async () => {
    const host = freshHost();
    const [owner = ''] = await organizations(1);
    const calls = await recordMany(PAIR_MAX + 1, owner, host);
    await take(calls);
    await sql`update webhook_turn set held_until = now() where host = ${host} and held_until is not null`.execute(
      database.db,
    );
    assert.equal((await give(host, owner, PAIR_MAX)).length, 1);
    await dropLapsedTurns(database.db);
    const { rows } = await sql`select from webhook_turn where host = ${host}`.execute(database.db);
    assert.equal(rows.length, 1);
  });
});
