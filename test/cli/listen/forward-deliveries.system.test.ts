import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { isFromWeir } from '../../../examples/webhooks/verify.ts';
import { type Delivery, statusIs } from '../../api/webhooks/deliveries-fixture.ts';
import { startTcpProxy } from '../../fakes/tcp-proxy.ts';
import type { Tenant } from '../../harness.ts';
import { startWebhookWeir, type WebhookWeir } from '../../webhooks.ts';
import { describeWith } from '../../where-available.ts';
import { ROOT } from '../cli-harness.ts';

type Received = { url?: string | undefined; headers: IncomingHttpHeaders; body: Buffer };
type Command = ChildProcessByStdio<null, Readable, Readable>;

describeWith(['openssl'], 'weir listen --forward-to', () => {
  let weir: WebhookWeir;
  let tenant: Tenant;
  let flow: string;
  let receiver: Server;
  let received: Received[] = [];
  let answers: [status: number, body: string, stalls?: boolean][] = [];
  const started = new Set<Command>();

  before(async () => {
    weir = await startWebhookWeir({ receivers: 0, env: { WEIR_WEBHOOK_LISTENERS: 'on' } });
    receiver = createServer(async (request, response) => {
      received.push({ url: request.url, headers: request.headers, body: await buffer(request) });
      const [status, body, stalls = false] = answers.shift() ?? [200, 'taken'];
      response.writeHead(status).write(body);
      if (!stalls) response.end();
    });
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
  });
  beforeEach(async () => {
    received = [];
    answers = [];
    // The address belongs to a key: each test has its own.
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, []);
  });
  afterEach(() => Promise.all([...started].map(end)));
  after(async () => {
    receiver.closeAllConnections();
    receiver.close();
    await weir.stop();
  });

  /** Starts the command and waits until it is connected. */
  async function listen({ url = weir.url, to = '' } = {}) {
    const { port } = receiver.address() as AddressInfo;
    const args = ['listen', '--forward-to', to || `http://127.0.0.1:${port}/hook`, '--json'];
    const command = spawn(process.execPath, [path.join(ROOT, 'cli/weir.js'), ...args], {
      env: { ...process.env, WEIR_URL: url, WEIR_API_KEY: tenant.key },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    started.add(command);
    const lines = createInterface({ input: command.stdout })[Symbol.asyncIterator]();
    const nextLine = async () => JSON.parse((await lines.next()).value ?? 'null');
    const { callbackUrl } = await nextLine();
    return { command, callbackUrl: callbackUrl as string, nextLine };
  }
  async function end(command: Command): Promise<void> {
    started.delete(command);
    if (command.exitCode !== null || command.signalCode !== null) return;
    command.kill();
    await once(command, 'exit');
  }
  const startJob = (callbackUrl: string) =>
    weir.startJob(tenant, flow, { host: '' } as never, { callbackUrl });
  const ended = (status: string) => weir.deliveryWhen(tenant, statusIs(status));
  const results = ({ attempts }: Delivery) =>
    attempts.map((attempt: Delivery) => [attempt.responseStatus, attempt.responseBody]);

  it('posts what a public receiver would get, signed, and prints it; the answer is the result', async () => {
    const secret = await weir.rotate(tenant);
    const { callbackUrl, nextLine } = await listen();
    assert.match(callbackUrl, /^https:\/\/[0-9a-f]{32}\.listen\.weir\.test\/$/);
    const executionId = await startJob(callbackUrl);
    const line = await nextLine();
    assert.deepEqual([line.event, line.executionId, line.status], ['flow.completed', executionId, 200]);
    const delivery = await ended('succeeded');
    assert.deepEqual([delivery.targetUrl, delivery.id], [callbackUrl, line.id]);
    assert.deepEqual(results(delivery), [[200, 'taken']]);

    const [{ url, headers, body } = assert.fail()] = received;
    assert.equal(url, '/hook');
    assert.equal(body.toString(), delivery.requestBody);
    assert(isFromWeir(body, String(headers['x-weir-signature']), secret));
    new Webhook(secret).verify(body.toString(), headers as Record<string, string>);
    assert.deepEqual(Object.keys(headers).sort(), [
      'connection',
      'content-length',
      'content-type',
      'host',
      'user-agent',
      'webhook-id',
      'webhook-signature',
      'webhook-timestamp',
      'x-weir-delivery',
      'x-weir-event',
      'x-weir-signature',
      'x-weir-timestamp',
    ]);
    assert.equal(headers['user-agent'], 'Weir-Webhooks/1.0');
  });

  it('adds the path and query of the callbackUrl to those of the receiver', async () => {
    const { port } = receiver.address() as AddressInfo;
    const { callbackUrl, nextLine } = await listen({ to: `http://127.0.0.1:${port}/hook/?env=dev` });
    await startJob(`${callbackUrl}orders/7?a=b%26c`);
    assert.equal((await nextLine()).status, 200);
    assert.deepEqual(
      received.map(({ url }) => url),
      ['/hook/orders/7?env=dev&a=b%26c'],
    );
  });

  it('takes the status of an answer whose body stalls', async () => {
    answers = [[200, 'x', true]];
    const { callbackUrl } = await listen();
    await startJob(callbackUrl);
    assert.deepEqual(results(await ended('succeeded')), [[200, 'x']]);
  });

  it('has a delivery repeated that its receiver answered with 500, and sent again on request', async () => {
    const { callbackUrl, nextLine } = await listen();
    answers = [[500, 'not yet']];
    await startJob(callbackUrl);
    assert.equal((await nextLine()).status, 500);
    const { id } = await ended('failed_retry');
    await weir.pendingAttempt(id, 2);
    await weir.attemptNow(id);
    const delivery = await ended('succeeded');
    assert.deepEqual(results(delivery), [
      [500, 'not yet'],
      [200, 'taken'],
    ]);
    await weir.webhooks(tenant, 'POST', `deliveries/${id}/redeliver`);
    assert.equal((await nextLine()).status, 200);
    assert.equal((await nextLine()).status, 200);
    assert.deepEqual(new Set(received.map(({ headers }) => headers['x-weir-delivery'])), new Set([id]));
  });

  it('is a receiver that is away once it has ended, and is back at the same address', async () => {
    const { command, callbackUrl } = await listen();
    await end(command);
    await startJob(callbackUrl);
    const { id, errorMessage } = await ended('failed_retry');
    assert.match(errorMessage, /^There was no answer: (no weir listen is connected|weir listen has ended)/);
    await weir.pendingAttempt(id, 2);
    const again = await listen();
    assert.equal(again.callbackUrl, callbackUrl);
    await weir.attemptNow(id);
    assert.equal((await again.nextLine()).id, id);
    await ended('succeeded');
  });

  it('connects again when the connection broke off', async () => {
    const proxy = await startTcpProxy(weir.url);
    try {
      const { command, callbackUrl, nextLine } = await listen({ url: proxy.url });
      const errors = createInterface({ input: command.stderr })[Symbol.asyncIterator]();
      proxy.cut();
      assert.match((await errors.next()).value ?? '', /Trying again\."\}$/);
      await proxy.restore();
      assert.equal((await errors.next()).value, '{"note":"Connected."}');
      const executionId = await startJob(callbackUrl);
      assert.equal((await nextLine()).executionId, executionId);
      await ended('succeeded');
    } finally {
      await proxy.close();
    }
  });

  it('says why its receiver did not answer, and has the delivery repeated', async () => {
    const { callbackUrl, nextLine } = await listen({ to: 'http://127.0.0.1:1/' });
    await startJob(callbackUrl);
    assert.equal((await nextLine()).error, 'the connection was refused');
    const { errorMessage } = await ended('failed_retry');
    assert.equal(errorMessage, 'There was no answer: the connection was refused.');
  });

  it('gets nothing of another organization, whose key cannot answer for it either', async () => {
    const { callbackUrl } = await listen();
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, []);
    await startJob(callbackUrl);
    assert.match((await ended('failed_retry')).errorMessage, /no weir listen is connected/);
    assert.deepEqual(received, []);
    const answer = (key?: string) =>
      weir.call('POST', '/webhooks/listen/some-id', { key, body: { status: 200 } });
    assert.equal((await answer(tenant.key)).status, 404);
    assert.equal((await answer()).status, 401);
  });

  it('ends when another one with the same key takes over', async () => {
    const first = await listen();
    // Read from now on: Node.js drops what nobody reads once a child has ended.
    const errors = text(first.command.stderr);
    const second = await listen();
    assert.match(await errors, /Another weir listen with the same API key took over/);
    assert.equal(first.command.exitCode ?? (await once(first.command, 'exit'))[0], 1);
    await startJob(second.callbackUrl);
    await ended('succeeded');
  });

  it('refuses an answer that is neither a status nor an error', async () => {
    for (const body of [
      {},
      { status: 200, error: 'no' },
      { status: 99 },
      { status: 200, body: 'x'.repeat(5_000) },
    ])
      assert.equal(
        (await weir.call('POST', '/webhooks/listen/some-id', { key: tenant.key, body })).status,
        422,
      );
  });
});
