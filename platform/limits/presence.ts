/** An owner who has been seen within this time is present. */
const PRESENT_MS = 10_000;

/** Who has been here lately: organizations, or users who act for none. */
export type Presence = {
  note(owner: string): void;
  areOthers(owner: string): boolean;
};

/** Creates a presence in which nobody has been seen; `now` is in milliseconds. */
export function createPresence(now = () => performance.now()): Presence {
  /** When each owner was last seen, the latest last. */
  const seen = new Map<string, number>();
  const isPresent = (at: number) => now() - at < PRESENT_MS;
  return {
    note(owner) {
      seen.delete(owner);
      seen.set(owner, now());
      for (const [earliest, at] of seen) {
        if (isPresent(at)) break;
        seen.delete(earliest);
      }
    },
    areOthers(owner) {
      for (const [other, at] of seen) if (other !== owner && isPresent(at)) return true;
      return false;
    },
  };
}
