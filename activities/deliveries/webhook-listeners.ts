// Receivers of webhooks on developers' machines: `weir listen` is connected to the API, and the worker of the same process
// hands it attempts (docs/webhooks.md, On your machine). Only a local service has them.
import { randomUUID } from 'node:crypto';
import { type GuardedAnswer, NoAnswer, TOTAL_TIMEOUT_MS } from '../../platform/net/guarded-post.ts';

/** Hosts of listeners are below this name, which does not exist in DNS. */
export const LISTENER_DOMAIN = 'listen.weir.test';
const LISTENER_HOST = /^[0-9a-f]{32}\.listen\.weir\.test$/;

export const ORGANIZATION_LISTENERS_MAX = 10;
export const PROCESS_LISTENERS_MAX = 100;

/** Whether a host may be that of a listener. */
export function isListenerHost(hostname: string): boolean {
  return LISTENER_HOST.test(hostname);
}

/** One attempt, as it would go to a public receiver; `target` is the path and query of the callbackUrl. */
export type ListenerRequest = {
  id: string;
  target: string;
  headers: { [name: string]: string };
  body: string;
};

/** A connected listener. The gate of deliveries bounds what waits for it: ten attempts. */
export type Listener = {
  /** Resolves with the next request; with undefined after `maxMs`, or when the listener is closed. */
  next(maxMs: number): Promise<ListenerRequest | undefined>;
  isClosed(): boolean;
  /** Ends it: attempts that it has not answered fail, and are repeated on their schedule. */
  close(): void;
  /** Gives the receiver's answer, or why there is none; false when nobody waits for it any more. */
  answer(id: string, answer: GuardedAnswer | { error: string }): boolean;
  send(request: Omit<ListenerRequest, 'id'>): Promise<GuardedAnswer>;
  organizationId: string;
};

export type WebhookListeners = {
  /** Connects a listener, and replaces the present listener of the host. Undefined at the limit of listeners. */
  connect(host: string, organizationId: string): Listener | undefined;
  find(host: string): Listener | undefined;
  /** Sends an attempt of the organization. Throws NoAnswer, as for a receiver that is away. */
  post(
    organizationId: string,
    url: URL,
    headers: { [name: string]: string },
    body: Buffer,
  ): Promise<GuardedAnswer>;
};

/** Creates the listeners of a process. One that has not answered an attempt within `timeoutMs` counts as away. */
export function createWebhookListeners(timeoutMs = TOTAL_TIMEOUT_MS): WebhookListeners {
  const listeners = new Map<string, Listener>();
  const find = (host: string) => listeners.get(host);
  return {
    find,
    connect(host, organizationId) {
      find(host)?.close();
      const own = [...listeners.values()].filter((other) => other.organizationId === organizationId);
      if (own.length >= ORGANIZATION_LISTENERS_MAX || listeners.size >= PROCESS_LISTENERS_MAX)
        return undefined;
      const listener: Listener = createListener(organizationId, timeoutMs, () => {
        if (find(host) === listener) listeners.delete(host);
      });
      listeners.set(host, listener);
      return listener;
    },
    async post(organizationId, url, headers, body) {
      const listener = find(url.hostname);
      if (listener?.organizationId !== organizationId)
        throw new NoAnswer('There was no answer: no weir listen is connected for this address.');
      return listener.send({ target: url.pathname + url.search, headers, body: body.toString() });
    },
  };
}

type Pending = { resolve(answer: GuardedAnswer): void; reject(error: NoAnswer): void };

function createListener(organizationId: string, timeoutMs: number, onClose: () => void): Listener {
  const waiting: ListenerRequest[] = [];
  const pending = new Map<string, Pending>();
  let closed = false;
  let wake: () => void = () => undefined;
  return {
    organizationId,
    isClosed: () => closed,
    async next(maxMs) {
      if (waiting.length === 0 && !closed) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const timer = setTimeout(resolve, Math.max(0, maxMs));
        await promise;
        clearTimeout(timer);
      }
      return closed ? undefined : waiting.shift();
    },
    close() {
      closed = true;
      onClose();
      wake();
      for (const { reject } of pending.values())
        reject(new NoAnswer('There was no answer: weir listen has ended.'));
    },
    answer(id, answer) {
      const asked = pending.get(id);
      if (!asked) return false;
      if ('error' in answer) asked.reject(new NoAnswer(`There was no answer: ${answer.error}.`));
      else asked.resolve(answer);
      return true;
    },
    async send(request) {
      const id = randomUUID();
      const { promise, resolve, reject } = Promise.withResolvers<GuardedAnswer>();
      const late = () => reject(new NoAnswer(`There was no answer within ${timeoutMs / 1_000} s.`));
      const timer = setTimeout(late, timeoutMs);
      pending.set(id, { resolve, reject });
      waiting.push({ id, ...request });
      wake();
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
        pending.delete(id);
        const place = waiting.findIndex((other) => other.id === id);
        if (place >= 0) waiting.splice(place, 1);
      }
    },
  };
}
