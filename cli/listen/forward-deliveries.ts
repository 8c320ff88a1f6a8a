// `weir listen --forward-to`: receives the deliveries of a local service over a stream, hands them to a receiver on this
// machine, and tells the service what that answered.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ListenerRequest } from '../../activities/deliveries/webhook-listeners.ts';
import { ServiceError } from '../../flow/errors.ts';
import { callApi, openStream } from '../api/call-api.ts';
import { Unreachable } from '../api/to-error.ts';
import { formatTime, oneLine } from '../terminal/format-table.ts';
import { note, printLine } from '../terminal/print-line.ts';
import { postToReceiver, type ReceiverAnswer } from './post-to-receiver.ts';
import { readEvents } from './read-events.ts';

const PATH = '/api/v1/webhooks/listen';
const RECONNECT_MS = 1_000;

/** Forwards until the process ends; connects again when the service was away. Throws when it is refused. */
export async function forwardDeliveries(to: URL, json: boolean): Promise<void> {
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
