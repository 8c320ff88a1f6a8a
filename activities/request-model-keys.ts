// Model keys that came with a request. They are never stored: the processes of the service hold them only in memory.
import { EventEmitter, once } from 'node:events';
import { sql } from 'kysely';
import type { Db } from '../db/connect.ts';
import { ConnectionFailed, logOutage } from '../db/connection/database-errors.ts';
import type { Notifications } from '../db/notifications.ts';
import type { ModelKeys } from '../db/tenants/model-keys.ts';
import { ServiceError } from '../flow/errors.ts';
import { log } from '../platform/observability/log.ts';
import { createEncryption } from '../platform/secrets/encrypt.ts';
import { createHeldModelKeys } from './held-model-keys.ts';

const CHANNEL = 'weir_request_keys';
/** How often keys of runs that have ended are dropped. The run of a key held for less may be about to be stored. */
const SWEEP_MS = 60_000;
/** A process that holds a key answers within milliseconds, unless it is reconnecting to the database. */
const ASK_AGAIN_MS = 1_000;
const ASKED_MAX = 10;
/** While this process has no connection to hear answers on, a question is asked again, for up to a minute in all. */
const ROUNDS_MAX = 60;

/** The most runs of one question: a notice has at most 8,000 bytes. */
const WANTED_MAX = 150;
/** How many runs are looked up at a time. */
const RUNS_MAX = 10 * WANTED_MAX;
/** The characters of notices after which a statement is sent: a process may hold tens of MiB of keys. */
const STATEMENT_CHARS = 256 * 1024;

/**
 * A message between processes, which may be of different versions: a key with its call's id (`executionId`), or the ids of the
 * calls whose keys the sender wants, and of those whose keys are needed no more.
 */
type Notice =
  | { executionId: string; provider: string; sealed: string; organizationId?: string }
  | { wanted: string[]; dropped?: string[] };

export type RequestModelKeys = {
  /**
   * Holds the keys, here and in every other process, while their call is under way. Throws RATE_LIMITED when the calls of the
   * organization hold as many as they may, SERVICE_BUSY when those of all do.
   */
  hold(organizationId: string, callId: string, keys: ModelKeys): Promise<void>;
  /** Drops the keys of a call that is not stored after all, here and in every other process. */
  drop(callId: string): void;
  /**
   * Finds a key, in whichever process has it. Throws MODEL_KEY_GONE when none answers within 10 s in which answers
   * could be heard, ConnectionFailed when answers cannot be heard.
   */
  find(callId: string, provider: string, signal: AbortSignal): Promise<string>;
  /** Hands its keys to the other processes. */
  close(): Promise<void>;
};

/** Keys pass through the database encrypted, as notices, never in a table. */
export function createRequestModelKeys(
  db: Db,
  notifications: Notifications,
  { secretsKeys }: { secretsKeys: Parameters<typeof createEncryption>[0] },
  askAgainMs = ASK_AGAIN_MS,
): RequestModelKeys {
  const encryption = createEncryption(secretsKeys);
  const held = createHeldModelKeys();
  const arrivals = new EventEmitter<{ [owner: string]: [] }>().setMaxListeners(0);
  const complain = (error: Error) => {
    if (!logOutage(error))
      log.warn({ err: error }, 'Model keys of requests could not be shared with other processes.');
  };

  function keep(organizationId: string, callId: string, keys: ModelKeys): void {
    held.keep(organizationId, callId, keys);
    for (const provider of Object.keys(keys)) arrivals.emit(ownerOf(callId, provider));
  }

  async function tell(notices: Iterable<Notice>): Promise<void> {
    let payloads: string[] = [];
    let chars = 0;
    const send = async () => {
      const sent = payloads;
      payloads = [];
      chars = 0;
      await sql`select pg_notify(${CHANNEL}, payload) from unnest(${sent}::text[]) payload`.execute(db);
    };
    for (const notice of notices) {
      const payload = JSON.stringify(notice);
      payloads.push(payload);
      chars += payload.length;
      if (chars >= STATEMENT_CHARS) await send();
    }
    if (payloads.length > 0) await send();
  }

  /** Seals the keys of the calls that are held, each only when its turn comes. */
  function* seal(callIds: Iterable<string>): Iterable<Notice> {
    for (const callId of callIds) {
      const { organizationId = '', keys = {} } = held.get(callId) ?? {};
      for (const [provider, key] of Object.entries(keys)) {
        const sealed = encryption.encrypt(key, ownerOf(callId, provider));
        yield { executionId: callId, provider, sealed, organizationId };
      }
    }
  }

  async function hear(payload: string): Promise<void> {
    const notice = JSON.parse(payload) as Notice;
    if ('wanted' in notice) {
      for (const callId of notice.dropped ?? []) held.drop(callId);
      return tell(seal(notice.wanted));
    }
    const { executionId: callId, provider, sealed, organizationId = '' } = notice;
    keep(organizationId, callId, { [provider]: encryption.decrypt(sealed, ownerOf(callId, provider)) });
  }

  /** Asks for keys that came while this process did not listen: the processes that heard them may be killed later. */
  async function catchUp(): Promise<void> {
    for (let after: { at: string; execution_id: string } | undefined; ; ) {
      const { at, execution_id } = after ?? {};
      const runs = await runsUnderWay()
        .select(sql<string>`started_at::text`.as('at'))
        .where('model_key_providers', 'is not', null)
        .$if(after !== undefined, (query) =>
          query.where(sql<boolean>`(started_at, execution_id) > (${at}::timestamptz, ${execution_id}::uuid)`),
        )
        .orderBy('started_at')
        .orderBy('execution_id')
        .limit(RUNS_MAX)
        .execute();
      const callIds = runs.map((run) => run.execution_id);
      const wanted = callIds.filter((callId) => !held.get(callId));
      await tell(inParts(wanted, WANTED_MAX).map((part) => ({ wanted: part })));
      if (runs.length < RUNS_MAX) return;
      after = runs.at(-1);
    }
  }

  function runsUnderWay() {
    return db.selectFrom('run').select('execution_id').where('status', '=', 'started');
  }

  async function sweep(): Promise<void> {
    const before = Date.now() - SWEEP_MS;
    const old = [...held].filter(([, { since }]) => since < before).map(([callId]) => callId);
    for (const part of inParts(old, RUNS_MAX)) {
      const runs = await runsUnderWay().where(sql<boolean>`execution_id = any(${part}::uuid[])`).execute();
      const underWay = new Set(runs.map((run) => run.execution_id));
      for (const callId of part) if (!underWay.has(callId)) held.drop(callId);
    }
  }

  const listener = notifications.listen(
    CHANNEL,
    (payload) => void hear(payload).catch(complain),
    () => void catchUp().catch(complain),
  );
  const sweeping = setInterval(() => void sweep().catch(complain), SWEEP_MS).unref();

  return {
    async hold(organizationId, callId, keys) {
      held.requireRoom(organizationId, callId, keys);
      keep(organizationId, callId, keys);
      await tell(seal([callId]));
    },
    drop(callId) {
      if (!held.get(callId)) return;
      held.drop(callId);
      void tell([{ wanted: [], dropped: [callId] }]).catch(complain);
    },
    async find(callId, provider, signal) {
      const owner = ownerOf(callId, provider);
      let asked = 0;
      for (let rounds = 0; rounds < ROUNDS_MAX; rounds++) {
        signal.throwIfAborted();
        const key = held.get(callId)?.keys[provider];
        if (key !== undefined) return key;
        if (asked === ASKED_MAX) throw gone(provider);
        const soon = AbortSignal.any([signal, AbortSignal.timeout(askAgainMs)]);
        const arrived = once(arrivals, owner, { signal: soon }).catch(() => undefined);
        await Promise.all([arrived, tell([{ wanted: [callId] }])]);
        if (listener.isListening()) asked++;
      }
      throw new ConnectionFailed('lost', new Error('the answers of other processes cannot be heard'));
    },
    async close() {
      clearInterval(sweeping);
      await tell(seal([...held].map(([callId]) => callId))).catch(complain);
      listener.close();
    },
  };
}

function inParts<T>(values: T[], size: number): T[][] {
  const length = Math.ceil(values.length / size);
  return Array.from({ length }, (_, index) => values.slice(index * size, (index + 1) * size));
}

function ownerOf(callId: string, provider: string): string {
  return `run/${callId}/model_key/${provider}`;
}

function gone(provider: string): ServiceError {
  return new ServiceError(
    'MODEL_KEY_GONE',
    `The key for ${provider} that came with the request is gone: such keys are held only in memory, and every process that held this one has ended. Send the request again.`,
  );
}
