// Starts a run, follows its events, and asks for its result.
//   WEIR_URL=http://127.0.0.1:8787 WEIR_API_KEY=weir_… node examples/clients/typescript/jobs.ts 'rivers, dams'
import { setTimeout } from 'node:timers/promises';
import { call, stream } from './weir.ts';

type Job = {
  executionId: string;
  status: 'started' | 'completed' | 'failed';
  result?: unknown;
  errorMessage?: string;
};
type RunEvent =
  | { event: 'block_completed' | 'block_failed'; data: { key: string; usage: { ms: number } } }
  | { event: 'run_started' | 'run_completed' | 'run_failed'; data: Job };

const message = process.argv[2] ?? 'rivers, dams';
const { executionId } = await call<Job>('POST', 'demo/demo/hello/jobs', { message });
const path = `demo/demo/hello/jobs/${executionId}`;

for await (const { event, data } of stream<RunEvent>('GET', `${path}/events`))
  console.log(event, 'key' in data ? `${data.key} (${data.usage.ms} ms)` : data.executionId);

// Without events: ask until the run has ended.
let job = await call<Job>('GET', path);
while (job.status === 'started') {
  await setTimeout(1000);
  job = await call<Job>('GET', path);
}
if (job.status === 'failed') throw new Error(job.errorMessage);
console.log(JSON.stringify(job.result, null, 2));
