// Reads a draft and writes it back, over the client that @hey-api/openapi-ts makes of the API document: unchanged, then with
// every block renamed and one added. It is run with the address of a service, a key, and the ids of a project and a flow.
import { getDraft, replaceDraft, type Step } from './client';
import { client } from './client/client.gen';

declare const process: { argv: string[] };

const [baseUrl = '', auth = '', project_id = '', flow_id = ''] = process.argv.slice(2);
client.setConfig({ baseUrl, auth });
const path = { project_id, flow_id };

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

async function main(): Promise<void> {
  const { data, response } = await getDraft({ path, throwOnError: true });
  let etag = response.headers.get('etag') ?? '';
  async function write(steps: Step[]): Promise<string> {
    const headers = { 'If-Match': etag };
    const written = await replaceDraft({ path, headers, body: { steps }, throwOnError: true });
    return written.response.headers.get('etag') ?? '';
  }

  const written = await write(data.steps);
  console.log(written === etag ? 'unchanged' : 'changed');
  etag = written;
  const added: Step = { type: 'sequential', step_id: 'added', name: 'Added', processor_type: 'passthrough' };
  console.log((await write([...data.steps.map(rename), added])) === etag ? 'unchanged' : 'changed');
}

void main();
