import { AsyncLocalStorage } from 'node:async_hooks';
import { log } from './log.ts';

const QUIET_MS = 60_000;

const REPEAT_MS = 60_000;
/** While a part comes and goes, it is away. */
const SETTLED_MS = 5_000;
const MS_PER_SECOND = 1_000;

/** An outage is found out during some request, and is none of it: its lines have the fields of no request. */
const outsideRequests = AsyncLocalStorage.snapshot();

export type OutageLog = {
  /** Notes that something failed because the part is away. `inPart`: other things may work meanwhile. */
  failed(reason: string, how?: { inPart?: boolean }): void;
  /**
   * Notes that the part works: it is back when nothing has failed for 5 s. After a failure in part it is back only when
   * `isWhole`, which is asked every 5 s then, says so.
   */
  works(isWhole?: () => Promise<boolean>): void;
};

/**
 * Creates the log of outages of a part that many callers need. However many calls fail, an outage is logged once when it
 * begins, once a minute while it lasts, once when it becomes partial, and once when it ends. `now` is in milliseconds.
 */
export function createOutageLog(part: string, now: () => number = () => performance.now()): OutageLog {
  let outage:
    | { since: number; lastFailure: number; quietUntil: number; failures: number; inPart: boolean }
    | undefined;
  let asking = false;
  const extent = () => ({
    failures: outage?.failures,
    away_s: Math.round((now() - (outage?.since ?? now())) / MS_PER_SECOND),
  });
  const end = () => {
    outsideRequests(() => log.info(extent(), `${part} is back.`));
    outage = undefined;
  };
  return {
    failed(reason, { inPart = false } = {}) {
      const at = now();
      const isNew = outage === undefined;
      outage ??= { since: at, lastFailure: at, quietUntil: at, failures: 0, inPart };
      outage.lastFailure = at;
      outage.failures += 1;
      // After a lost connection, a dependency may work only in part, for another reason.
      const isOther = inPart && !outage.inPart;
      outage.inPart ||= inPart;
      if (at < outage.quietUntil && !isOther) return;
      outage.quietUntil = at + REPEAT_MS;
      outsideRequests(() =>
        isNew
          ? log.warn({ reason }, `${part} is away: what needs it fails or waits.`)
          : log.warn({ reason, ...extent() }, `${part} is still away.`),
      );
    },
    works(isWhole) {
      if (!outage || asking || now() - outage.lastFailure < SETTLED_MS) return;
      if (!outage.inPart) return end();
      if (!isWhole) return;
      const asked = outage;
      const { lastFailure } = asked;
      asking = true;
      void outsideRequests(isWhole)
        .catch(() => false)
        .then((whole) => {
          asking = false;
          if (asked.lastFailure !== lastFailure) return;
          if (whole) end();
          else asked.lastFailure = now();
        });
    },
  };
}

/**
 * Creates the pace of a line that would be logged again and again. It says before each whether to log it: with how many were
 * suppressed since the last one, or undefined for one within a minute of that. `now` is in milliseconds.
 */
export function createOnceAMinute(now: () => number = () => performance.now()): () => number | undefined {
  let quietUntil = Number.NEGATIVE_INFINITY;
  let left = 0;
  return function countSuppressed() {
    if (now() < quietUntil) {
      left += 1;
      return undefined;
    }
    const suppressed = left;
    quietUntil = now() + QUIET_MS;
    left = 0;
    return suppressed;
  };
}
