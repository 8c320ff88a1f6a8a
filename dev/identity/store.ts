// The records of the embedded identity provider (sessions, grants, registered clients), in one file of the state folder.
import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider';
import { readState, writeState } from '../state-folder.ts';

const FILE = 'identity-records.json';
/** The oldest records are deleted beyond this: anybody on this machine can register clients. */
const RECORDS_MAX = 2_000;
/** Anybody can begin a sign-in, without signing in: these records alone make room for others of them. */
const INTERACTIONS_MAX = 500;
const INTERACTION = 'Interaction:';
/** For this long after its first use, a refresh token works again: the answer may not have reached the client. */
const LOST_ANSWER_SECONDS = 30;

/** `expiresAt` is in milliseconds since 1970; null means never. */
type StoredRecord = { payload: AdapterPayload; expiresAt: number | null };

/**
 * Creates the adapter that lets `oidc-provider` store its records in the state folder. `now`: the clock of used refresh tokens,
 * in milliseconds.
 */
export function createIdentityStore(stateFolder: string, now: () => number = Date.now): AdapterFactory {
  const records = new Map(Object.entries(readState<Record<string, StoredRecord>>(stateFolder, FILE) ?? {}));

  function find(key: string): AdapterPayload | undefined {
    const record = records.get(key);
    return record && !isExpired(record) ? record.payload : undefined;
  }
  function search(model: string, matches: (payload: AdapterPayload) => boolean): AdapterPayload | undefined {
    for (const [key, record] of records)
      if (key.startsWith(`${model}:`) && !isExpired(record) && matches(record.payload)) return record.payload;
    return undefined;
  }
  function save(): void {
    for (const [key, record] of records) if (isExpired(record)) records.delete(key);
    const interactions = [...records.keys()].filter((key) => key.startsWith(INTERACTION));
    for (const key of interactions.slice(0, -INTERACTIONS_MAX)) records.delete(key);
    for (const key of records.keys()) {
      if (records.size <= RECORDS_MAX) break;
      records.delete(key);
    }
    writeState(stateFolder, FILE, Object.fromEntries(records));
  }

  /** Hides from the provider that a refresh token was just used: it revokes the grant of one that is used again. */
  function withoutRecentUse(payload: AdapterPayload | undefined): AdapterPayload | undefined {
    const { consumed, ...unused } = payload ?? {};
    const isRecent = typeof consumed === 'number' && now() / 1_000 - consumed < LOST_ANSWER_SECONDS;
    return isRecent ? unused : payload;
  }

  return (model): Adapter => ({
    async upsert(id, payload, expiresIn) {
      const expiresAt = expiresIn === undefined ? null : Date.now() + expiresIn * 1000;
      records.set(`${model}:${id}`, { payload, expiresAt });
      save();
    },
    async find(id) {
      const payload = find(`${model}:${id}`);
      return model === 'RefreshToken' ? withoutRecentUse(payload) : payload;
    },
    findByUid: async (uid) => search(model, (payload) => payload.uid === uid),
    findByUserCode: async (userCode) => search(model, (payload) => payload.userCode === userCode),
    async consume(id) {
      const payload = find(`${model}:${id}`);
      if (payload) payload.consumed ??= now() / 1_000;
      save();
    },
    async destroy(id) {
      records.delete(`${model}:${id}`);
      save();
    },
    async revokeByGrantId(grantId) {
      for (const [key, { payload }] of records)
        if (key.startsWith(`${model}:`) && payload.grantId === grantId) records.delete(key);
      save();
    },
  });
}

function isExpired({ expiresAt }: StoredRecord): boolean {
  return expiresAt !== null && expiresAt <= Date.now();
}
