// Starts a run, follows its events, and asks for its result.
//   WEIR_URL=http://127.0.0.1:8787 WEIR_API_KEY=weir_… npx node examples/clients/typescript/jobs.ts 'rivers, dams'
import { call, stream } from './weir.ts';

type Job = {
  executionId: string;
  status: 'started' | 'completed' | 'failed';
  result?: unknown;
  errorMessage?: string;
};
type RunEvent =
  | { event: 'block_completed' | 'block_failed'; data: { key: string; usage: { ms: number } } }
  | { event: 'block_started' | 'block_retrying'; data: { key: string; usage?: undefined } }
  | { event: 'run_started' | 'run_completed' | 'run_failed'; data: Job };

const message = process.argv[2] ?? 'rivers, dams';
const { executionId } = await call<Job>('POST', 'demo/demo/hello/jobs', { message });
const path = `demo/demo/hello/jobs/${executionId}`;

for await (const { event, data } of stream<RunEvent>('GET', `${path}/events`))
  if (!('key' in data)) console.log(event, data.executionId);
  else console.log(event, data.usage ? `${data.key} (${data.usage.ms} ms)` : data.key);

// Without events: ask until the run has ended. Each answer comes with the end of the run, or after 20 seconds.
let job = await call<Job>('GET', `${path}?wait=20`);
while (job.status === 'started') job = await call<Job>('GET', `${path}?wait=20`);
if (job.status === 'failed') throw new Error(job.errorMessage);
console.log(JSON.stringify(job.result, null, 2));
