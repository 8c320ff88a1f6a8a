import type { EndTurn } from './turns.ts';

/** Waits for something without a turn, and then for another one. Once the turn has ended, only waits. */
export type Leave = <T>(wait: () => Promise<T>) => Promise<T>;

/** Waits for something where there is no turn to leave. */
export const stay: Leave = (wait) => wait();

/** A turn that its holder may leave, and is back in afterwards. */
export type TurnToLeave = { end: EndTurn; leave: Leave };

/**
 * Takes a turn that others can have while its holder waits for what is elsewhere; `again` takes the next one. Of several such waits
 * at a time, the last one to end takes the next turn. A wait that fails takes none.
 */
export async function takeTurnToLeave(take: () => Promise<EndTurn>, again = take): Promise<TurnToLeave> {
  let endTurn = await take();
  let ended = false;
  let away = 0;
  let returning: Promise<void> | undefined;

  async function comeBack(): Promise<void> {
    const taken = await again();
    if (ended || away > 0) taken();
    else endTurn = taken;
  }

  return {
    end() {
      ended = true;
      endTurn();
    },
    async leave(wait) {
      away += 1;
      endTurn();
      const waited = await wait().finally(() => {
        away -= 1;
      });
      if (ended || away > 0) return waited;
      returning ??= comeBack().finally(() => {
        returning = undefined;
      });
      await returning;
      return waited;
    },
  };
}
