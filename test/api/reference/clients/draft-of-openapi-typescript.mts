// Reads a draft and writes it back, over the types that openapi-typescript makes of the API document: unchanged, then with
// every block renamed and one added. It is run with the address of a service, a key, and the ids of a project and a flow.
import createClient from 'openapi-fetch';
import type { components, paths } from './api.js';

declare const process: { argv: string[] };
type Step = components['schemas']['Step'];

const [baseUrl = '', key = '', project_id = '', flow_id = ''] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
const path = { project_id, flow_id };

const DRAFT = '/api/v1/projects/{project_id}/flows/{flow_id}/draft';
const read = await client.GET(DRAFT, { params: { path } });
if (!read.data) throw new Error(JSON.stringify(read.error));
let etag = read.response.headers.get('etag') ?? '';

async function write(body: components['schemas']['ReplaceDraft']): Promise<string> {
  const params = { path, header: { 'If-Match': etag } };
  const { error, response } = await client.PUT(DRAFT, { params, body });
  if (error) throw new Error(error.detail.message);
  return response.headers.get('etag') ?? '';
}

function rename(step: Step): Step {
  switch (step.type) {
    case 'sequential':
      return { ...step, name: `New ${step.name}` };
    case 'loop':
      return { ...step, body: step.body.map(rename) };
    case 'parallel': {
      const branches = Object.entries(step.branches).map(([name, steps]) => [name, steps.map(rename)]);
      return { ...step, branches: Object.fromEntries(branches) };
    }
  }
}

const written = await write(read.data);
console.log(written === etag ? 'unchanged' : 'changed');
etag = written;
const added: Step = { type: 'sequential', step_id: 'added', name: 'Added', processor_type: 'passthrough' };
console.log(
  (await write({ steps: [...read.data.steps.map(rename), added] })) === etag ? 'unchanged' : 'changed',
);
