// main of `npm run bench`: measures Weir, workflows written by hand and no engine side by side (candidates.ts), and further
// parts (parts.ts), and prints Markdown tables with the aims (aims.ts); --neighbours measures one organization beside
// hostile ones.
import { writeFileSync } from 'node:fs';
import { createProgress } from '../dev/progress.ts';
import { compareCandidates } from './compare/compare.ts';
import { readOptions } from './compare/options.ts';
import { formatResults } from './compare/report.ts';
import { formatNeighbours, measureNeighbours } from './neighbours/neighbours.ts';
import { startBackends } from './setup/backends.ts';

const options = readOptions();
const { sizes } = options;
const progress = createProgress();
const stops: (() => Promise<void>)[] = [];
const onStop = (stop: () => Promise<void>) => void stops.push(stop);
try {
  const measuring = options.neighbours === undefined ? compare() : compareNeighbours(options.neighbours);
  const { text, results } = await Promise.race([measuring, interruption()]);
  console.log(`\n${text}`);
  if (options.json) writeFileSync(options.json, `${JSON.stringify({ sizes, ...results }, null, 2)}\n`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
for (const stop of stops.reverse()) await stop();
// Ends the work that an interruption left unfinished.
process.exit();

async function compare() {
  const results = await compareCandidates(options, progress, onStop);
  return { text: formatResults(results), results };
}

/** Measures an innocent organization beside each hostile load whose name contains `filter`. */
async function compareNeighbours(filter: string) {
  const backends = await startBackends(progress, onStop);
  const task = progress.begin('Neighbours');
  const size = { seconds: sizes.neighbourSeconds, filter };
  const results = await measureNeighbours(backends, size, task.say, onStop);
  task.done();
  return { text: formatNeighbours(results), results };
}

function interruption(): Promise<never> {
  return new Promise((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => reject(new Error('Interrupted.')));
  });
}
