import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import {
  createNotifications,
  type NotificationListener,
  type Notifications,
} from '../../db/notifications.ts';
import { captureLog } from '../capture-log.ts';
import { startTcpProxy, type TcpProxy } from '../fakes/tcp-proxy.ts';
import { waitUntil } from '../wait-until.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

const APPLICATION = 'weir_listener';

describe('the connection that listens for notifications', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let notifications: Notifications;
  before(async () => {
    database = await createTestDatabase();
  });
  beforeEach(async () => {
    proxy = await startTcpProxy(database.url);
    const url = new URL(proxy.url);
    url.searchParams.set('application_name', APPLICATION);
    notifications = createNotifications(url.href);
  });
  afterEach(async () => {
    await notifications.close();
    await proxy.close();
  });
  after(() => database.drop());

  type Heard = { listener: NotificationListener; heard: string[]; openings(): number };
  function listen(channel: string): Heard {
    const heard: string[] = [];
    let openings = 0;
    const hear = (payload: string) => void heard.push(payload);
    const listener = notifications.listen(channel, hear, () => {
      openings += 1;
    });
    return { listener, heard, openings: () => openings };
  }
  const isListening = ({ listener }: Heard) => listener.isListening();
  const announce = (channel: string, payload: string) =>
    sql`select pg_notify(${channel}, ${payload})`.execute(database.db);
  const connections = sql`(select pid from pg_stat_activity
    where datname = current_database() and application_name = ${APPLICATION}) as connections`;
  const countConnections = async () =>
    (await sql`select from ${connections}`.execute(database.db)).rows.length;
  /** Again and again: on a slow machine a connection may be replaced meanwhile. */
  const untilHeard = (channel: string, { heard }: Heard) =>
    waitUntil(async () => {
      await announce(channel, channel);
      return heard.length > 0;
    });

  it('is one for all channels, those that are listened on later too', async () => {
    const early = ['weir_a', 'weir_b'].map(listen);
    assert.deepEqual(early.map(isListening), [false, false]);
    await waitUntil(() => early.every(isListening));
    const all = [...early, listen('weir_c'), listen('weir_c')];
    await waitUntil(() => all.every(isListening));
    for (const channel of ['weir_a', 'weir_b', 'weir_c']) await announce(channel, `of ${channel}`);
    await waitUntil(() => all.every(({ heard }) => heard.length > 0));
    assert.deepEqual(
      all.map(({ heard, openings }) => [...heard, openings()]),
      [
        ['of weir_a', 1],
        ['of weir_b', 1],
        ['of weir_c', 1],
        ['of weir_c', 1],
      ],
    );
    assert.equal(await countConnections(), 1);
  });

  it('listens on all channels again after it was lost, and says that it does not hear meanwhile', async () => {
    const all = ['weir_a', 'weir_b', 'weir_c'].map(listen);
    await waitUntil(() => all.every(isListening));
    await proxy.refuse();
    await waitUntil(() => !all.some(isListening));
    await proxy.restore();
    await waitUntil(() => all.every(isListening));
    assert.ok(all.every(({ openings }) => openings() >= 2));
    await sql`select pg_terminate_backend(pid, 5000) from ${connections}`.execute(database.db);
    await waitUntil(() => all.every(({ openings }) => openings() >= 3));
    for (const [index, channel] of ['weir_a', 'weir_b', 'weir_c'].entries())
      await untilHeard(channel, all[index] as Heard);
    await waitUntil(async () => (await countConnections()) === 1);
  });

  it('goes on for the others when one of them is closed, also once it was lost', async () => {
    const [closed, open] = [listen('weir_a'), listen('weir_b')];
    await waitUntil(() => isListening(closed) && isListening(open));
    closed.listener.close();
    assert.equal(isListening(closed), false);
    await announce('weir_a', 'to nobody');
    await untilHeard('weir_b', open);
    proxy.cut();
    await waitUntil(() => !isListening(open));
    await proxy.restore();
    await waitUntil(() => isListening(open));
    open.heard.length = 0;
    await announce('weir_a', 'to nobody');
    await untilHeard('weir_b', open);
    assert.deepEqual([closed.heard, closed.openings(), isListening(closed)], [[], 1, false]);
  });

  it('goes on for all when one of them fails at what it isListening', async () => {
    const captured = captureLog();
    try {
      const fail = () => {
        throw new Error('at once');
      };
      notifications.listen('weir_a', fail, fail);
      notifications.listen('weir_a', () => Promise.reject(new Error('later')));
      const [same, other] = [listen('weir_a'), listen('weir_b')];
      await waitUntil(() => isListening(same) && isListening(other));
      await announce('weir_a', 'news');
      await announce('weir_b', 'news');
      await waitUntil(() => other.heard.length > 0);
      assert.deepEqual(
        [same.heard, same.openings(), other.heard, other.openings()],
        [['news'], 1, ['news'], 1],
      );
      const told = captured.lines.filter(({ msg }) => msg === 'A notification could not be handled.');
      assert.deepEqual(
        told.map(({ err, channel }) => [(err as Error).message, channel]),
        [
          ['at once', 'weir_a'],
          ['at once', 'weir_a'],
          ['later', 'weir_a'],
        ],
      );
    } finally {
      captured.stop();
    }
  });

  it('is not replaced, and no outage is told, when this process was held up and reads an answer late', async () => {
    const captured = captureLog();
    try {
      const heldUp = createNotifications(database.url);
      const holdUp = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_500);
      holdUp();
      let openings = 0;
      const listener = heldUp.listen(
        'weir_a',
        () => undefined,
        () => {
          openings += 1;
        },
      );
      await waitUntil(() => listener.isListening());
      // It is asked whether it is there, and then to listen on another channel.
      const another = heldUp.listen('weir_b', () => undefined);
      await setImmediate();
      holdUp();
      await waitUntil(() => another.isListening());
      await heldUp.close();
      assert.equal(openings, 1);
      assert.deepEqual(
        captured.lines.filter(({ level }) => level === 'warn'),
        [],
      );
    } finally {
      captured.stop();
    }
  });

  describe('that dies silently', () => {
    it('is replaced by one that listens on all channels', async () => {
      const all = ['weir_a', 'weir_b'].map(listen);
      await waitUntil(() => all.every(isListening));
      proxy.silence();
      await waitUntil(() => !all.some(isListening));
      await proxy.restore();
      for (const [index, channel] of ['weir_a', 'weir_b'].entries())
        await untilHeard(channel, all[index] as Heard);
    });

    it('can be closed without waiting for it', async () => {
      const { listener } = listen('weir_a');
      await waitUntil(() => listener.isListening());
      proxy.silence();
      await notifications.close();
      assert.equal(listener.isListening(), false);
    });

    it('can be closed while it is being opened', async () => {
      proxy.silence();
      listen('weir_a');
      await notifications.close();
    });
  });
});
