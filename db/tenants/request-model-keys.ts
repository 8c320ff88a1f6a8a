// Model keys that came with a request. They are never stored: the processes of the service hold them only in memory.
import { EventEmitter, once } from 'node:events';
import { sql } from 'kysely';
import { ServiceError } from '../../flow/errors.ts';
import { log } from '../../observability/log.ts';
import type { Db } from '../connect.ts';
import { ConnectionFailed } from '../connection/connection-failed.ts';
import { tellOutage } from '../connection/database-outage.ts';
import { createEncryption } from '../encrypt.ts';
import { listen } from '../listen.ts';
import type { ModelKeys } from './model-keys.ts';

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

/**
 * A message between processes, which may be of different versions: a key with its call's id (`executionId`), or the ids of the
 * calls whose keys the sender wants.
 */
type Notice = { executionId: string; provider: string; sealed: string } | { wanted: string[] };

export type RequestModelKeys = {
  /** Holds the keys, here and in every other process, while their call is under way. */
  hold(callId: string, keys: ModelKeys): Promise<void>;
  /**
   * Finds a key, in whichever process has it. Throws MODEL_KEY_GONE when none answers within 10 s in which answers
   * could be heard, ConnectionFailed when answers cannot be heard.
   */
  find(callId: string, provider: string, signal: AbortSignal): Promise<string>;
  /** Hands its keys to the other processes, and closes its connection. */
  close(): Promise<void>;
};

/** Opens a listening connection of its own. Keys pass through the database encrypted, as notices, never in a table. */
export function createRequestModelKeys(
  db: Db,
  { databaseUrl, secretsKeys }: { databaseUrl: string; secretsKeys: Parameters<typeof createEncryption>[0] },
  askAgainMs = ASK_AGAIN_MS,
): RequestModelKeys {
  const encryption = createEncryption(secretsKeys);
  const held = new Map<string, { keys: ModelKeys; since: number }>();
  const arrivals = new EventEmitter<{ [owner: string]: [] }>().setMaxListeners(0);
  const complain = (error: Error) => {
    if (!tellOutage(error))
      log.warn({ err: error }, 'Model keys of requests could not be shared with other processes.');
  };

  function keep(callId: string, keys: ModelKeys): void {
    held.set(callId, { keys: { ...held.get(callId)?.keys, ...keys }, since: Date.now() });
    for (const provider of Object.keys(keys)) arrivals.emit(ownerOf(callId, provider));
  }

  async function tell(notices: Notice[]): Promise<void> {
    if (notices.length === 0) return;
    const payloads = notices.map((notice) => JSON.stringify(notice));
    await sql`select pg_notify(${CHANNEL}, payload) from unnest(${payloads}::text[]) payload`.execute(db);
  }

  function seal(callId: string, keys: ModelKeys): Notice[] {
    return Object.entries(keys).map(([provider, key]) => ({
      executionId: callId,
      provider,
      sealed: encryption.encrypt(key, ownerOf(callId, provider)),
    }));
  }

  async function hear(payload: string): Promise<void> {
    const notice = JSON.parse(payload) as Notice;
    if ('wanted' in notice) return tell(notice.wanted.flatMap((id) => seal(id, held.get(id)?.keys ?? {})));
    const { executionId: callId, provider, sealed } = notice;
    keep(callId, { [provider]: encryption.decrypt(sealed, ownerOf(callId, provider)) });
  }

  /** Asks for keys that came while this process did not listen: the processes that heard them may be killed later. */
  async function catchUp(): Promise<void> {
    const runs = await runsUnderWay().where('model_key_providers', 'is not', null).execute();
    const wanted = runs.map((run) => run.execution_id).filter((callId) => !held.has(callId));
    const questions = Array.from({ length: Math.ceil(wanted.length / WANTED_MAX) }, (_, index) => ({
      wanted: wanted.slice(index * WANTED_MAX, (index + 1) * WANTED_MAX),
    }));
    await tell(questions);
  }

  function runsUnderWay() {
    return db.selectFrom('run').select('execution_id').where('status', '=', 'started');
  }

  async function sweep(): Promise<void> {
    const before = Date.now() - SWEEP_MS;
    const old = [...held].filter(([, { since }]) => since < before).map(([callId]) => callId);
    if (old.length === 0) return;
    const runs = await runsUnderWay().where(sql<boolean>`execution_id = any(${old}::uuid[])`).execute();
    const underWay = new Set(runs.map((run) => run.execution_id));
    for (const callId of old) if (!underWay.has(callId)) held.delete(callId);
  }

  const listener = listen(
    databaseUrl,
    CHANNEL,
    (payload) => void hear(payload).catch(complain),
    () => void catchUp().catch(complain),
  );
  const sweeping = setInterval(() => void sweep().catch(complain), SWEEP_MS).unref();

  return {
    hold(callId, keys) {
      keep(callId, keys);
      return tell(seal(callId, keys));
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
        if (listener.hears()) asked++;
      }
      throw new ConnectionFailed('lost', new Error('the answers of other processes cannot be heard'));
    },
    async close() {
      clearInterval(sweeping);
      await tell([...held].flatMap(([callId, { keys }]) => seal(callId, keys))).catch(complain);
      await listener.close();
    },
  };
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
