import assert from 'node:assert/strict';
import type { Step } from '../../../flow/definition.ts';
import { createScopedKey } from '../../scoped-key.ts';
import type { ConsoleWeir } from './console-weir.ts';

/** The keys of the flows made last: a project has ten at most. */
const keys = new WeakMap<ConsoleWeir, string>();

/** A flow of the demo project, read and changed by a client beside the console. */
export async function createFlow(weir: ConsoleWeir, slug: string, begun: Step[]) {
  const { projectId } = weir;
  const flows = `${weir.url}/api/v1/projects/${projectId}/flows`;
  const works = async (known: string) =>
    (await fetch(flows, { headers: { authorization: `Bearer ${known}` } })).ok;
  const last = keys.get(weir);
  const key =
    last && (await works(last)) ? last : (await createScopedKey(weir, projectId, 'deploy', 'read')).key;
  keys.set(weir, key);
  async function send(method: string, path: string, body?: object) {
    const response = await fetch(`${flows}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'if-match': '*' },
      ...(body && { body: JSON.stringify(body) }),
    });
    assert.ok(response.ok, `${method} ${path}: ${response.status}`);
    return await response.json();
  }
  const { id } = (await send('POST', '', { name: slug, slug })) as { id: string };
  const steps = async () => ((await send('GET', `/${id}/draft`)) as { steps: Step[] }).steps;
  const flow = {
    id,
    /** May deploy and read in the project. */
    key,
    path: `orgs/demo/projects/demo/flows/${slug}`,
    replace: (changed: Step[]) => send('PUT', `/${id}/draft`, { steps: changed }),
    publish: () => send('POST', `/${id}/versions`, {}),
    steps,
    names: async () => (await steps()).map(({ name }) => name),
  };
  if (begun.length > 0) await flow.replace(begun);
  return flow;
}
