// Definitions are read for an answer like other stored values: in their turn, and only where they are in the answer.
import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { updateDraft } from '../../../db/flows/flows.ts';
import { passthrough } from '../../blocks.ts';
import type { Answer } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';
import { waitsForBytes } from '../http/waits-for-bytes.ts';
import { useManagement } from '../organizations/management-harness.ts';

const LARGE = passthrough('a', { prompt: 'x'.repeat(256 * 1024) });

describe('definitions', () => {
  const { management } = useManagement();
  const send = (method: string, path: string, body?: unknown): Promise<Answer> => {
    const { projectId, flowId, token } = management.acme;
    const url = `/projects/${projectId}/flows/${flowId}${path}`;
    return management.weir.call(method, url, { key: token.member, body });
  };
  beforeEach(() => updateDraft(management.weir.db, management.acme.flowId, { steps: [LARGE] }));

  const waits = (ask: () => Promise<Answer>) =>
    waitsForBytes(management.weir.httpGates, management.acme.organizationId, ask);

  it('wait for the share of their organization before they are read, published and compared', async () => {
    const published = await waits(() => send('POST', '/versions', {}));
    assert.deepEqual([published.status, published.body.steps], [201, [LARGE]]);
    const { version } = published.body;
    assert.deepEqual((await waits(() => send('GET', '/draft'))).body.steps, [LARGE]);
    assert.deepEqual((await waits(() => send('GET', `/versions/${version}`))).body.steps, [LARGE]);
    const { body } = await waits(() => send('GET', `/difference?from=1&to=${version}`));
    assert.equal(body.changes.at(-1).step_id, 'a');
    assert.deepEqual((await waits(() => send('GET', `/difference?from=draft&to=${version}`))).body, {
      changes: [],
    });
  });

  it('wait for it as the flow of a run', async () => {
    const { weir, acme } = management;
    const flow = await weir.createFlow(acme, [LARGE]);
    const { body } = await weir.call('POST', `${flow}/jobs`, { key: acme.key, body: { message: 'm' } });
    const path = `${flow}/jobs/${body.executionId}/flow`;
    const answer = await waits(() => weir.call('GET', path, { key: acme.token.member }));
    assert.deepEqual(answer.body.steps, [LARGE]);
  });

  it('are given back with the answer', async () => {
    await send('GET', '/draft');
    await waitUntil(() => management.weir.httpGates.answers.count().weight === 0);
  });

  it('are not read by requests about the versions, test cases and test runs of a flow', async () => {
    const { db } = management.weir;
    const { testCaseId } = management.acme;
    const { test_run_id } = (await send('POST', '/test-runs', {})).body;
    const body = { name: 'new', message: 'm', expectation: { type: 'equals', value: 'm' } };
    // Whoever reads a draft fails.
    await sql`alter table flow rename column draft to hidden`.execute(db);
    try {
      for (const [method, path, sent] of [
        ['GET', '/versions'],
        ['GET', '/test-cases'],
        ['GET', `/test-cases/${testCaseId}`],
        ['POST', '/test-cases', body],
        ['PUT', `/test-cases/${testCaseId}`, { ...body, name: 'renamed' }],
        ['DELETE', `/test-cases/${testCaseId}`],
        ['GET', '/test-runs'],
        ['GET', `/test-runs/${test_run_id}`],
      ] as const) {
        const { status, body } = await send(method, path, sent);
        assert(status < 300, `${method} ${path}: ${status} ${JSON.stringify(body)}`);
      }
    } finally {
      await sql`alter table flow rename column hidden to draft`.execute(db);
    }
  });
});
