// Reads a draft and writes it back, over the client that openapi-generator makes of the API document: unchanged, then with
// every block renamed and one added. It is run with the address of a service, a key, and the ids of a project and a flow.
import { Configuration, FlowsApi, type Step } from './client';

declare const process: { argv: string[] };

const [basePath = '', accessToken = '', projectId = '', flowId = ''] = process.argv.slice(2);
const flows = new FlowsApi(new Configuration({ basePath, accessToken }));

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
  const read = await flows.getDraftRaw({ projectId, flowId });
  const { steps } = await read.value();
  let etag = read.raw.headers.get('etag') ?? '';
  async function write(steps: Step[]): Promise<string> {
    const request = { projectId, flowId, ifMatch: etag, replaceDraft: { steps } };
    const { raw } = await flows.replaceDraftRaw(request);
    return raw.headers.get('etag') ?? '';
  }

  const written = await write(steps);
  console.log(written === etag ? 'unchanged' : 'changed');
  etag = written;
  const added: Step = { type: 'sequential', stepId: 'added', name: 'Added', processorType: 'passthrough' };
  console.log((await write([...steps.map(rename), added])) === etag ? 'unchanged' : 'changed');
}

void main();
