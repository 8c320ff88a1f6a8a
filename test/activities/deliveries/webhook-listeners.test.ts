import assert from 'node:assert/strict';
import {
  createWebhookListeners,
  isListenerHost,
  type Listener,
} from '../../../activities/deliveries/webhook-listeners.ts';
import { NoAnswer } from '../../../platform/net/guarded-post.ts';

const hostOf = (number: number) => `${number.toString(16).padStart(32, '0')}.listen.weir.test`;
const urlOf = (host: string) => new URL(`https://${host}/hook?a=1#b`);
const LONG_MS = 60_000;

describe('listeners of webhooks', () => {
  const post = (listeners: ReturnType<typeof createWebhookListeners>, organization: string, host: string) =>
    listeners.post(organization, urlOf(host), { 'X-Weir-Event': 'flow.completed' }, Buffer.from('{"ä":1}'));
  const noAnswer = (words: RegExp) => (error: unknown) =>
    error instanceof NoAnswer && words.test(error.message);

  it('get an attempt with its path, query, headers and body, and their answer is its result', async () => {
    const listeners = createWebhookListeners();
    const listener = listeners.connect(hostOf(1), 'a') as Listener;
    const posted = post(listeners, 'a', hostOf(1));
    const request = await listener.next(LONG_MS);
    assert.deepEqual(request, {
      id: request?.id,
      target: '/hook?a=1',
      headers: { 'X-Weir-Event': 'flow.completed' },
      body: '{"ä":1}',
    });
    const answer = { status: 201, body: Buffer.from('thanks') };
    assert.equal(listener.answer('another', answer), false);
    assert.equal(listener.answer(request?.id ?? '', answer), true);
    assert.deepEqual(await posted, answer);
    assert.equal(listener.answer(request?.id ?? '', answer), false);
  });

  it('have no attempt, and no warning of Node, when they ask with no time left', async () => {
    const warnings: string[] = [];
    const note = ({ message }: Error) => warnings.push(message);
    process.on('warning', note);
    const listener = createWebhookListeners().connect(hostOf(1), 'a') as Listener;
    assert.equal(await listener.next(-0.03), undefined);
    process.off('warning', note);
    assert.deepEqual(warnings, []);
  });

  it('are away for other organizations, for other hosts and once they are closed', async () => {
    const listeners = createWebhookListeners();
    const listener = listeners.connect(hostOf(1), 'a') as Listener;
    await assert.rejects(post(listeners, 'b', hostOf(1)), noAnswer(/no weir listen is connected/));
    await assert.rejects(post(listeners, 'a', hostOf(2)), noAnswer(/no weir listen is connected/));
    const unanswered = post(listeners, 'a', hostOf(1));
    listener.close();
    await assert.rejects(unanswered, noAnswer(/weir listen has ended/));
    await assert.rejects(post(listeners, 'a', hostOf(1)), noAnswer(/no weir listen is connected/));
    assert.equal(await listener.next(LONG_MS), undefined);
  });

  it('fail an attempt that they do not answer in time, and do not get it any more', async () => {
    const listeners = createWebhookListeners(1);
    const listener = listeners.connect(hostOf(1), 'a') as Listener;
    await assert.rejects(post(listeners, 'a', hostOf(1)), noAnswer(/no answer within 0\.001 s/));
    assert.equal(await listener.next(1), undefined);
  });

  it('fail an attempt with the reason why there was no answer', async () => {
    const listeners = createWebhookListeners();
    const listener = listeners.connect(hostOf(1), 'a') as Listener;
    const posted = post(listeners, 'a', hostOf(1));
    const request = await listener.next(LONG_MS);
    listener.answer(request?.id ?? '', { error: 'the connection was refused' });
    await assert.rejects(posted, noAnswer(/^There was no answer: the connection was refused\.$/));
  });

  it('give way to the one that takes their host, and are at most ten of an organization', () => {
    const listeners = createWebhookListeners();
    const first = listeners.connect(hostOf(0), 'a') as Listener;
    const second = listeners.connect(hostOf(0), 'a') as Listener;
    assert.deepEqual([first.isClosed(), second.isClosed()], [true, false]);
    first.close();
    assert.equal(listeners.find(hostOf(0)), second);
    for (let number = 1; number < 10; number += 1) assert(listeners.connect(hostOf(number), 'a'));
    assert.equal(listeners.connect(hostOf(10), 'a'), undefined);
    assert(listeners.connect(hostOf(10), 'b'));
  });

  it('are known by hosts that nobody can own', () => {
    assert(isListenerHost(hostOf(7)));
    for (const host of ['listen.weir.test', `x${hostOf(7)}`, `${hostOf(7)}.example.com`, 'listen-weir.test'])
      assert.equal(isListenerHost(host), false, host);
  });
});
