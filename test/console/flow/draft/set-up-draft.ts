import {
  type DraftServer,
  DraftStore,
  type SaveResult,
  type ServerDraft,
} from '../../../../console/flow/draft/draft-store.ts';
import type { Step } from '../../../../console/flow/draft/steps.ts';

/** A block. */
export const step = (step_id: string, prompt = ''): Step => ({
  type: 'sequential',
  step_id,
  name: step_id,
  processor_type: 'llm',
  prompt,
});

/** A service with one draft, whose responses can be lost, refused or delayed, and a clock that the test controls. */
export function setUpDraft() {
  let version = 1;
  let steps: Step[] = [step('a')];
  const etag = () => `"${version}"`;
  const draft = (): ServerDraft => ({ steps: structuredClone(steps), etag: etag(), problems: [], notes: [] });
  const saves: { steps: Step[]; etag: string }[] = [];
  const service = {
    saves,
    answer: undefined as undefined | ((take: () => SaveResult) => SaveResult | Promise<SaveResult>),
    changeElsewhere(changed: Step[]) {
      steps = changed;
      version += 1;
    },
    /** Thrown when the draft is read. */
    readError: undefined as Error | undefined,
    steps: () => steps,
  };
  const server: DraftServer = {
    read: async (known) => {
      if (service.readError) throw service.readError;
      return known === etag() ? undefined : draft();
    },
    save: async (sent, match) => {
      saves.push({ steps: sent, etag: match });
      const take = (): SaveResult => {
        if (match !== etag()) return { type: 'changed' };
        service.changeElsewhere(structuredClone(sent));
        return { type: 'saved', draft: draft() };
      };
      return service.answer ? await service.answer(take) : take();
    },
  };
  const timers = { now: 0, pending: undefined as undefined | (() => void) };
  const store = new DraftStore(draft(), server, {
    set: (run) => {
      timers.pending = run;
      return run;
    },
    clear: (timer) => {
      if (timers.pending === timer) timers.pending = undefined;
    },
    now: () => timers.now,
  });
  const write = (prompt: string, label = 'write') => store.change(label, () => [step('a', prompt)]);
  const pass = async () => {
    const { pending } = timers;
    timers.pending = undefined;
    pending?.();
    await store.flush();
  };
  return { store, service, timers, write, pass };
}
