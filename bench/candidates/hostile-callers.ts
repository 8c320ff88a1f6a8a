// main: the callers of a hostile organization
import { constants, setPriority } from 'node:os';
import { HOSTILE_LOADS, type HostileCall, type HostileLoad } from '../neighbours/hostile-loads.ts';

// Elsewhere they have machines of their own.
setPriority(constants.priority.PRIORITY_LOW);
process.once('disconnect', () => process.exit());
process.once('message', async ({ name, at }: HostileCall) => {
  const load = HOSTILE_LOADS.find((candidate) => candidate.name === name) as HostileLoad;
  try {
    await load.begin(at);
    process.send?.({});
  } catch (error) {
    process.send?.({ problem: String(error) });
  }
});
