import type { HandWrittenJob } from './candidates/hand-written.ts';
import { CANDIDATES, type Letter, MESSAGE } from './candidates.ts';
import { startFork } from './fork.ts';
import type { Running } from './measure.ts';
import type { Groups } from './usage.ts';
import type { Outside, Weir } from './weir.ts';

/** A pid is undefined when the server was not started here. */
export type TemporalServer = { address: string; pid: number | undefined };

type Context = {
  outside: Outside;
  /** The Temporal servers for what is written by hand, by name: '' for Weir's. */
  temporals: Map<string, TemporalServer>;
  /** How Weir's processes are arranged, by name: '' for one process. */
  weirs: Map<string, Weir>;
  /** Returns the groups of processes whose use is measured for a candidate that runs in `pids` on `temporal`. */
  groupsOf(pids: number[], temporal?: TemporalServer): Groups;
  onStop(stop: () => Promise<void>): void;
};

/**
 * Starts the candidates. Those of Weir are there once for each arrangement and those of Temporal once for each server, whose
 * name follows the letter.
 */
export async function startCandidates(letters: Letter[], context: Context): Promise<Map<string, Running>> {
  const { weirs, temporals, groupsOf } = context;
  const callers = await Promise.all(
    [...weirs].map(async ([name, weir]) => ({ name, weir, caller: await weir.createCaller() })),
  );
  const running = new Map<string, Running>();
  for (const letter of letters) {
    const candidate = CANDIDATES[letter];
    const shape = { callers: candidate.callers, callsModels: 'callsModels' in candidate };
    if ('flow' in candidate) {
      for (const { name, weir, caller } of callers) {
        const target = await caller.target(candidate.flow, candidate.expect);
        running.set(`${letter} ${name}`.trim(), { ...shape, target, groups: groupsOf(weir.pids) });
      }
      continue;
    }
    for (const [name, temporal] of temporals) {
      if (name && !('workflow' in candidate.byHand)) continue;
      const { pid, url } = await startHandWritten(candidate.byHand, temporal, context);
      const target = { url, body: JSON.stringify({ message: MESSAGE }), expect: candidate.expect };
      running.set(`${letter} ${name}`.trim(), { ...shape, target, groups: groupsOf([pid], temporal) });
    }
  }
  return running;
}

async function startHandWritten(
  job: HandWrittenJob,
  { address }: TemporalServer,
  { outside, onStop }: Context,
): Promise<{ pid: number; url: string }> {
  const { pid, receive, stop } = startFork(new URL('./candidates/hand-written.ts', import.meta.url), {
    ...outside.env,
    HAND_WRITTEN_JOB: JSON.stringify(job),
    TEMPORAL_ADDRESS: address,
  });
  onStop(stop);
  const { url } = (await receive()) as { url: string };
  return { pid, url };
}
