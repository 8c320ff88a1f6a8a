// `weir listen`: receives webhooks on this machine.

import { type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import type { ListenerRequest } from '../../activities/deliveries/webhook-listeners.ts';
import { ServiceError } from '../../flow/errors.ts';
import { describeNetworkError } from '../../platform/net/describe-network-error.ts';
import { TOTAL_TIMEOUT_MS } from '../../platform/net/guarded-post.ts';
import { readAnswerStart } from '../../platform/net/read-answer-start.ts';
import { callApi, openStream } from '../api/call-api.ts';
import { Unreachable } from '../api/to-error.ts';
import { parseHttpAddress, UsageError } from '../terminal/parse-argument.ts';
import { formatTime, note, oneLine, printLine } from '../terminal/print.ts';
import { addReceiveOptions, type ReceiveOptions, receiveWebhooks } from './receive-webhooks.ts';

type Event = { event: string; data: unknown };

/** The receiver's answer, or why there was none. */
type ReceiverAnswer = { status: number; body: string } | { error: string };

const PATH = '/api/v1/webhooks/listen';
const RECONNECT_MS = 1_000;

export function addListenCommand(program: Command): void {
  const listen = program
    .command('listen')
    .description('receive webhooks on this machine: forward them to your receiver, or verify and print them')
    .addOption(
      new Option(
        '--forward-to <url>',
        'post the deliveries of a local service to this http address; the service needs no restart',
      )
        .argParser(parseHttpAddress)
        .conflicts(['port', 'http']),
    )
    .addOption(
      new Option('--secret <secret>', 'verify with this signing secret and print').env('WEIR_WEBHOOK_SECRET'),
    );
  addReceiveOptions(listen)
    .addHelpText('after', '\nExample:\n  weir listen --forward-to http://localhost:3000/hook')
    .action(receive);
}

type ListenOptions = ReceiveOptions & { forwardTo?: URL; secret?: string };

async function receive({ forwardTo, secret, ...options }: ListenOptions, command: Command): Promise<void> {
  if (forwardTo) {
    // The variable may be set for the receiver.
    if (command.getOptionValueSource('secret') === 'cli')
      throw new UsageError('With --forward-to, give no --secret: your receiver verifies.');
    return forwardDeliveries(forwardTo, options.json === true);
  }
  if (secret === undefined) throw new UsageError('Give --forward-to, --secret or WEIR_WEBHOOK_SECRET.');
  return receiveWebhooks(async () => secret, options);
}

// `weir listen --forward-to`: receives the deliveries of a local service over a stream, hands them to a receiver on this
// machine, and reports the response to the service.

/** Forwards until the process ends; connects again when the service was away. Throws when it is refused. */
async function forwardDeliveries(to: URL, json: boolean): Promise<void> {
  let known = false;
  let away = false;
  const complain = (problem: string) => {
    if (!away) note(oneLine(`${problem} Trying again.`));
    away = true;
  };
  const begin = ({ callbackUrl }: { callbackUrl: string }) => {
    if (away) note('Connected.');
    away = false;
    if (!known) announce(to, callbackUrl, json);
    known = true;
  };
  for (;;) {
    try {
      for await (const { event, data } of readEvents(await connect())) {
        if (event === 'listening') begin(data as { callbackUrl: string });
        else if (event === 'delivery') void forward(to, data as ListenerRequest, json);
        else if (event === 'ended') throw new ServiceError('CONFLICT', (data as { message: string }).message);
      }
      complain('The service ended the connection.');
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      complain(error instanceof Unreachable ? error.message : 'The connection broke off.');
    }
    await sleep(RECONNECT_MS);
  }
}

function announce(to: URL, callbackUrl: string, json: boolean): void {
  const text = `Forwarding to ${to}; Ctrl-C stops it. Start runs with this callbackUrl:\n${callbackUrl}`;
  printLine(json ? JSON.stringify({ callbackUrl }) : text);
}

function connect(): Promise<NonNullable<Response['body']>> {
  return openStream(PATH, { keyOnly: true }).catch((error: unknown) => {
    if (!(error instanceof ServiceError) || error.code !== 'NOT_FOUND') throw error;
    throw new ServiceError(
      'NOT_FOUND',
      'This service takes no listeners. A local one does: run npm start, or set WEIR_WEBHOOK_LISTENERS=on for npm run serve.',
    );
  });
}

/** Forwards one delivery and prints it on one line. Never rejects. */
async function forward(to: URL, request: ListenerRequest, json: boolean): Promise<void> {
  const { id, target, headers, body } = request;
  const began = performance.now();
  const answer = await postToReceiver(addressFor(to, target), headers, Buffer.from(body));
  const ms = Math.round(performance.now() - began);
  const delivery = { id: headers['X-Weir-Delivery'] ?? '', event: headers['X-Weir-Event'] ?? '' };
  const { executionId } = JSON.parse(body) as { executionId: string };
  const text = [formatTime(new Date()), delivery.event, executionId, inWords(answer), `${ms} ms`].join('  ');
  const record = { ...delivery, executionId, ...statusOf(answer), ms };
  printLine(json ? JSON.stringify(record) : text);
  await callApi('POST', `${PATH}/${id}`, { body: answer, keyOnly: true }).catch((error: Error) =>
    note(oneLine(`The answer to ${delivery.id} came too late or could not be given: ${error.message}`)),
  );
}

/** Adds the path and query of the callbackUrl to the receiver's address. */
function addressFor(to: URL, target: string): URL {
  const added = new URL(`http://listener${target}`);
  const address = new URL(to);
  if (added.pathname !== '/') address.pathname = to.pathname.replace(/\/$/, '') + added.pathname;
  address.search = [to.search.slice(1), added.search.slice(1)].filter(Boolean).join('&');
  return address;
}

function statusOf(answer: ReceiverAnswer): { status: number } | { error: string } {
  return 'error' in answer ? answer : { status: answer.status };
}

function inWords(answer: ReceiverAnswer): string {
  return 'error' in answer ? `no answer: ${oneLine(answer.error)}` : String(answer.status);
}

/** Posts a delivery as the service would: with these headers and bytes, following no redirects. Never rejects. */
async function postToReceiver(
  to: URL,
  headers: { [name: string]: string },
  body: Buffer,
): Promise<ReceiverAnswer> {
  const signal = AbortSignal.timeout(TOTAL_TIMEOUT_MS);
  try {
    const answer = await send(to, { method: 'POST', headers, signal, agent: false }, body);
    return { status: answer.statusCode ?? 0, body: (await readAnswerStart(answer)).toString() };
  } catch (error) {
    if (signal.aborted) return { error: `the receiver did not answer within ${TOTAL_TIMEOUT_MS / 1_000} s` };
    return { error: describeNetworkError(error) };
  }
}

function send(to: URL, options: RequestOptions, body: Buffer): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    (to.protocol === 'https:' ? requestHttps : requestHttp)(to, options)
      .on('response', resolve)
      .on('error', reject)
      .end(body);
  });
}

/** Yields the events of a stream of Server-Sent Events whose data is one line of JSON; throws when it breaks off. */
async function* readEvents(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<Event> {
  let text = '';
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    const parts = (text + chunk).split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const data = /^data: (.*)$/m.exec(part)?.[1];
      if (data !== undefined) yield { event: /^event: (.*)$/m.exec(part)?.[1] ?? '', data: JSON.parse(data) };
    }
  }
}
