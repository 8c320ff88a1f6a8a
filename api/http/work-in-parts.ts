import { holdStored } from './hold-stored.ts';

/** A little more than the largest draft of a flow. The drafts of most projects, and the test cases of most flows, fit in one go. */
const PART_MAX_BYTES = 2 * 1024 * 1024;

/**
 * Does work over large values of `owner` a few at a time, in their order, so that those of a part are dropped before the next is
 * read: together they may be many times as large as what comes of them. Throws as `takeBytes` does.
 */
export async function workInParts<T extends { bytes: number }>(
  deps: Parameters<typeof holdStored>[0],
  owner: string,
  values: T[],
  doWork: (part: T[]) => Promise<void>,
): Promise<void> {
  for (const { bytes, part } of toParts(values)) await holdStored(deps, owner, bytes, () => doWork(part));
}

function toParts<T extends { bytes: number }>(values: T[]): { bytes: number; part: T[] }[] {
  const parts: { bytes: number; part: T[] }[] = [];
  for (const value of values) {
    const last = parts.at(-1);
    if (last && last.bytes + value.bytes <= PART_MAX_BYTES) {
      last.bytes += value.bytes;
      last.part.push(value);
    } else parts.push({ bytes: value.bytes, part: [value] });
  }
  return parts;
}
