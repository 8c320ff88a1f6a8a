// A caller in TypeScript, over the types that openapi-typescript makes of the API document. It is compiled, then run with
// the address of a service, a key, and the path of a flow.
import createClient from 'openapi-fetch';
import type { components, paths } from './api.js';

declare const process: { argv: string[] };

const [baseUrl = '', key = '', org = '', project = '', flow = ''] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
const path = { org, project, flow };

/** Reads the fields that each status has: it compiles only when the union narrows. */
function tell(run: components['schemas']['ExecuteResponse'] | components['schemas']['JobAccepted']): string {
  switch (run.status) {
    case 'completed':
      return `completed ${JSON.stringify(run.result)}`;
    case 'failed':
      return `failed ${run.code satisfies components['schemas']['ErrorCode']} ${run.errorMessage}`;
    case 'tool_calls_required':
      return `paused ${run.pausedAtStep} ${run.toolCalls.length}`;
    // With Prefer: respond-async.
    case 'started':
      return `started ${run.executionId}`;
  }
}

const EXECUTE = '/api/v1/seq/{org}/{project}/{flow}/execute';
const ended = await client.POST(EXECUTE, { params: { path }, body: { message: 'rivers' } });
if (!ended.data) throw new Error(ended.error.detail.message);
console.log(tell(ended.data));

const { executionId } = ended.data;
const job = await client.GET('/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}', {
  params: { path: { ...path, executionId } },
});
if (job.data?.status !== 'completed') throw new Error(JSON.stringify(job));
console.log(`job ${JSON.stringify(job.data.result)}`);

const unknown = await client.POST(EXECUTE, {
  params: { path: { ...path, flow: 'none' } },
  body: { message: '' },
});
const code: 'FLOW_NOT_FOUND' | undefined =
  unknown.error?.detail.code === 'FLOW_NOT_FOUND' ? unknown.error.detail.code : undefined;
console.log(`refused ${code}`);
