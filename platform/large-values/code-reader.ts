// Reads the sources of code blocks, and remembers what was found in them: flows are read far more often than they change.
import { createHash } from 'node:crypto';
import { type CodeFindings, readCode } from '../javascript/read-code.ts';
import { createSharedCache } from '../limits/shared-cache.ts';
import type { LargeJson } from './large-json.ts';

/** The characters of unknown sources that one caller has read where it runs; what goes beyond is read in the thread. */
const HERE_MAX_LENGTH = 16 * 1024;
/** Characters of findings that are remembered, and those that one takes besides its texts. */
const KEPT_MAX_LENGTH = 4 * 1024 * 1024;
const KEPT_LENGTH = 200;

/**
 * Reads sources in their order, long ones in the thread. Rejects with the signal's reason when that aborts before a permit comes.
 */
export type CodeReader = (owner: string, sources: string[], signal?: AbortSignal) => Promise<CodeFindings[]>;

export function createCodeReader(thread: Pick<LargeJson, 'readCode'>): CodeReader {
  const known = createSharedCache<CodeFindings>(KEPT_MAX_LENGTH);
  const underWay = new Map<string, Promise<CodeFindings>>();

  function remember(owner: string, digest: string, found: CodeFindings): CodeFindings {
    const { problem, named, undefinedNames = [] } = found;
    const names = [...named, ...undefinedNames].join('');
    const length = KEPT_LENGTH + (problem?.message.length ?? 0) + names.length;
    known.set(owner, digest, found, length);
    return found;
  }

  async function readInThread(
    owner: string,
    digest: string,
    source: string,
    signal: AbortSignal | undefined,
  ): Promise<CodeFindings> {
    const key = `${owner} ${digest}`;
    // Another reader of the same source may give up before its permit comes, and so may this one.
    for (let other = underWay.get(key); other; other = underWay.get(key))
      await raceSignal(
        other.catch(() => undefined),
        signal,
      );
    const found = known.get(digest);
    if (found) return found;
    const reading = thread
      .readCode(owner, Buffer.from(source), { signal })
      .then((found) => remember(owner, digest, found))
      .finally(() => underWay.delete(key));
    underWay.set(key, reading);
    return reading;
  }

  return async function read(owner, sources, signal) {
    let left = HERE_MAX_LENGTH;
    const findings: CodeFindings[] = [];
    for (const source of sources) {
      const digest = createHash('sha256').update(source).digest('base64');
      const found = known.get(digest);
      if (!found) left -= source.length;
      if (found) findings.push(found);
      else if (left >= 0) findings.push(remember(owner, digest, readCode(source)));
      else findings.push(await readInThread(owner, digest, source, signal));
    }
    return findings;
  };
}

async function raceSignal<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
