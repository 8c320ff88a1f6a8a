// A Weir with one tenant, and an API key of it that edits drafts and runs them.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Step } from '../../../flow/definition.ts';
import { llm } from '../../blocks.ts';
import { callTools, type FakeModelServer } from '../../fakes/model-server.ts';
import type { Answer, Tenant, Weir } from '../../harness.ts';
import { createScopedKey } from '../../scoped-key.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { readMessages, type SseMessage } from '../../sse.ts';

/** A flow that was never published: the paths of its draft and of its runs. */
export type Draft = { draft: string; flow: string };

export type DraftWeir = Weir & {
  models: FakeModelServer;
  tenant: Tenant;
  /** Its scopes are deploy, run and read. */
  key: string;
  keyId: string;
  createDraft(steps: Step[]): Promise<Draft>;
  edit(draft: string, steps: Step[]): Promise<void>;
  /** Publishes the draft and makes it the production version. */
  publish(draft: string): Promise<void>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Sends a call of a session, as a version's or a draft's path takes it, and reads its events. */
  step(path: string, body: object, headers?: Record<string, string>): Promise<SseMessage[]>;
  /** Lets the draft's `ask` block pause for a tool; answers the request that resumes it. */
  pause(path: string): Promise<object>;
};

const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
/** A block that can pause for tools. */
export const ASK = llm('ask', '{{message}}', 'demo/chat', { processor_config: { tools_enabled: true } });

export async function collect(response: Response): Promise<SseMessage[]> {
  const messages: SseMessage[] = [];
  for await (const message of readMessages(response)) messages.push(message);
  return messages;
}

export async function startDraftWeir(): Promise<DraftWeir> {
  const weir = await getSharedWeir();
  const { models } = weir;
  const tenant = await weir.createTenant();
  const { key, keyId } = await createScopedKey(weir, tenant.projectId, 'deploy', 'run', 'read');
  const send = async (method: string, path: string, body: object, headers = {}) => {
    const answer = await weir.call(method, path, { key, body, headers });
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body;
  };
  const edit: DraftWeir['edit'] = (draft, steps) => send('PUT', draft, { steps }, { 'if-match': '*' });
  const post: DraftWeir['post'] = (path, body, headers = {}) =>
    weir.call('POST', path, { key, body, headers });
  return {
    ...weir,
    ...{ models, tenant, key, keyId, edit, post },
    async createDraft(steps) {
      const flows = `/projects/${tenant.projectId}/flows`;
      const slug = `draft-${randomUUID().slice(0, 8)}`;
      const { id } = await send('POST', flows, { name: slug, slug });
      const draft = `${flows}/${id}/draft`;
      await edit(draft, steps);
      return { draft, flow: `${tenant.organization}/project/${slug}` };
    },
    async publish(draft) {
      const path = draft.replace(/\/draft$/, '');
      const { version } = await send('POST', `${path}/versions`, { note: '' });
      await send('PUT', `${path}/production`, { version });
    },
    async step(path, body, headers = {}) {
      const url = `${weir.url}/api/v1${path.startsWith('/') ? path : `/seq/${path}`}/step`;
      const response = await fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
      assert.equal(response.status, 200);
      return collect(response);
    },
    async pause(path) {
      models.will(callTools([{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }]));
      const { body } = await post(`${path}/execute`, { message: 'm', tools });
      assert.equal(body.status, 'tool_calls_required', JSON.stringify(body));
      const { pausedAtStep, executionId, iterationsUsed, accumulatedOutputs, toolCallMessages } = body;
      const result = { role: 'tool', tool_call_id: 'a', content: 'it is there' };
      return {
        ...{ executionId, pausedAtStep, iterationsUsed, accumulatedOutputs, tools },
        toolCallMessages: [...toolCallMessages, result],
      };
    },
    async stop() {
      await weir.stop();
    },
  };
}
