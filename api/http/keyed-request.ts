import type { Tx } from '../../db/connect.ts';

/** The write of a request with an Idempotency-Key. */
export type KeyedRequest = {
  /** The result of an earlier request with the key. */
  earlier: { result: unknown } | undefined;
  /** Runs `work` once for the key, in the transaction of the write. */
  once<T>(tx: Tx, work: () => Promise<T>): Promise<T>;
};

/** Runs `work`, once for its key where the request has one. */
export function onceFor<T>(keyed: KeyedRequest | undefined, tx: Tx, work: () => Promise<T>): Promise<T> {
  return keyed ? keyed.once(tx, work) : work();
}
