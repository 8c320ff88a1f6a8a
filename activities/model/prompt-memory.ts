import type { ByteBudget } from '../../platform/limits/byte-budget.ts';

/** The memory that one model call takes for what it sends, counted in characters, until the call has ended. */
export type PromptMemory = {
  /** Whether there is memory for so many characters now; the call holds it from then on. */
  takeNow(chars: number): boolean;
  /** Waits for memory for so many characters. */
  wait(chars: number, signal: AbortSignal): Promise<void>;
  giveBack(): void;
};

/** Creates the memory of one call, which it takes from what its organization may have of `prompts`. */
export function createPromptMemory(prompts: ByteBudget, organization: string): PromptMemory {
  let held: { chars: number; giveBack(): void } | undefined;
  function giveBack(): void {
    held?.giveBack();
    held = undefined;
  }
  return {
    takeNow(chars) {
      if (held && chars <= held.chars) return true;
      giveBack();
      const taken = prompts.takeNow(organization, chars);
      held = taken && { chars, giveBack: taken };
      return taken !== undefined;
    },
    async wait(chars, signal) {
      giveBack();
      held = { chars, giveBack: await prompts.take(organization, chars, signal) };
    },
    giveBack,
  };
}
