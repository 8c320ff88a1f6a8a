// A draft that is edited over HTTP, over MCP and by `weir flow push` at once.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { type Flow, forgetMe } from '../../../cli/api/get-resource.ts';
import { getFlowsOfFiles } from '../../../cli/flows/flow-arguments.ts';
import { testCasesFile } from '../../../cli/flows/flow-files.ts';
import { pull } from '../../../cli/flows/pull.ts';
import { push, pushTestCases } from '../../../cli/flows/push.ts';
import { type PushPlan, planPush } from '../../../cli/flows/push-plan.ts';
import { readTestCases } from '../../../cli/flows/service-flow.ts';
import { type McpWeir, startMcpWeir } from '../mcp/mcp-harness.ts';

const AUDIENCE = 'https://api.weir.test';
const pass = (step_id: string) => ({ step_id, processor_type: 'passthrough' });

describe('a draft that several edit at once', () => {
  let mcp: McpWeir;
  let client: Client;
  let token: string;
  let folder: string;
  before(async () => {
    mcp = await startMcpWeir({ worker: false, env: { WEIR_OIDC_AUDIENCE: AUDIENCE } });
    await mcp.join('ada');
    client = await mcp.connect(await mcp.token('ada'));
    token = await mcp.provider.token('ada', { aud: AUDIENCE });
    folder = await mkdtemp(join(tmpdir(), 'weir-edits-'));
    Object.assign(process.env, { WEIR_URL: mcp.weir.url, WEIR_TOKEN: token, XDG_STATE_HOME: folder });
  });
  after(async () => {
    for (const name of ['WEIR_URL', 'WEIR_TOKEN', 'XDG_STATE_HOME']) delete process.env[name];
    forgetMe();
    await rm(folder, { recursive: true });
    await mcp.stop();
  });

  const flows = () => `/projects/${mcp.tenant.projectId}/flows`;
  const http = (method: string, path: string, body?: unknown, etag?: string) =>
    mcp.weir.call(method, `${flows()}${path}`, {
      key: token,
      body,
      headers: etag === undefined ? {} : { 'if-match': etag },
    });
  const createFlow = async (slug: string) => (await http('POST', '', { name: 'F', slug })).body.id as string;
  const read = async (id: string) => {
    const { body, headers } = await http('GET', `/${id}/draft`);
    const ids = body.steps.map(({ step_id }: { step_id: string }) => step_id) as string[];
    return { steps: body.steps, ids, etag: headers.get('etag') ?? '' };
  };
  const addOverMcp = async (flow_id: string, name: string) => {
    const answer = await mcp.callTool(client, 'add_block', { flow_id, name, processor_type: 'passthrough' });
    assert.equal(answer.isError, false, answer.text);
  };
  /** Adds a block to what it has read, and begins again when another was faster. */
  const addOverHttp = async (id: string, name: string): Promise<void> => {
    const { steps, etag } = await read(id);
    const { status } = await http('PUT', `/${id}/draft`, { steps: [...steps, pass(name)] }, etag);
    if (status === 412) return addOverHttp(id, name);
    assert.equal(status, 200);
  };
  const pushSteps = async (slug: string, ...ids: string[]) => {
    const file = join(folder, `${slug}.json`);
    await writeFile(file, JSON.stringify({ name: 'F', slug, steps: ids.map(pass) }));
    return push([file], { project: `${mcp.tenant.organization}/project` });
  };

  it('holds every block that was added, over HTTP and MCP', async () => {
    const id = await createFlow('both');
    const names = ['a', 'b', 'c', 'd'];
    await Promise.all(
      names.flatMap((name) => [addOverHttp(id, `http-${name}`), addOverMcp(id, `mcp-${name}`)]),
    );
    const expected = names.flatMap((name) => [`http-${name}`, `mcp-${name}`]);
    assert.deepEqual((await read(id)).ids.sort(), expected.sort());
  });

  it('is not replaced over HTTP by someone who has not read the edit of an assistant', async () => {
    const id = await createFlow('unread');
    const first = await read(id);
    await addOverMcp(id, 'assistant');
    const refused = await http('PUT', `/${id}/draft`, { steps: [pass('mine')] }, first.etag);
    assert.equal(refused.status, 412);
    const second = await read(id);
    assert.equal(refused.body.detail.etag, second.etag);
    assert.deepEqual(second.ids, ['assistant']);
  });

  it('is pulled into a file as an assistant left it, and a push of that changes nothing', async () => {
    const flow_id = await createFlow('unfinished');
    const callTool = async (name: string, input: object) => {
      const answer = await mcp.callTool(client, name, { flow_id, ...input });
      assert.equal(answer.isError, false, answer.text);
    };
    await callTool('add_block', {
      name: 'No model yet',
      processor_type: 'llm',
      prompt: 'Again: {{message}}',
    });
    await callTool('update_block', { step_id: 'no-model-yet', loop: {} });
    await callTool('add_block', { name: 'Later', processor_type: 'code' });
    const file = join(folder, 'unfinished.yaml');
    const project = `${mcp.tenant.organization}/project`;
    await pull(`${project}/unfinished`, file, {});
    const { etag } = await read(flow_id);
    const { json } = await push([file], { project });
    assert.deepEqual((json as { changes: unknown[] }[])[0]?.changes, []);
    assert.equal((await read(flow_id)).etag, etag);
    assert.equal((await read(flow_id)).ids.length, 2);
  });

  it('is replaced by `weir flow push` only where that loses no edit of others', async () => {
    const id = await createFlow('pushed');
    await pushSteps('pushed', 'base');
    const names = ['a', 'b', 'c'];
    const [pushes] = await Promise.all([
      Promise.allSettled(names.map(() => pushSteps('pushed', 'base', 'pushed'))),
      ...names.flatMap((name) => [addOverHttp(id, `http-${name}`), addOverMcp(id, `mcp-${name}`)]),
    ]);
    const { ids } = await read(id);
    for (const name of names)
      assert.ok(ids.includes(`http-${name}`) && ids.includes(`mcp-${name}`), `${ids}`);
    for (const one of pushes)
      if (one.status === 'fulfilled') assert.ok(ids.includes('pushed'), `${ids}`);
      else assert.equal(one.reason.code, 'CONFLICT', one.reason);
    await assert.rejects(pushSteps('pushed', 'base', 'again'), /never held[\s\S]*mcp-a/);
    assert.deepEqual((await read(id)).ids, ids);
  });

  describe('with its names and test cases', () => {
    const testCase = (message: string) => ({
      name: 'one',
      message,
      expectation: { type: 'contains' as const, text: 'x' },
    });
    const writeFlow = async (folderName: string, name: string, message: string) => {
      const file = join(folder, folderName, 'names.json');
      await mkdir(join(folder, folderName), { recursive: true });
      await writeFile(file, JSON.stringify({ name, slug: 'names', steps: [pass('base')] }));
      await writeFile(testCasesFile(file), JSON.stringify([testCase(message)]));
      return file;
    };

    it('is that of one push when two push at once; the other is refused', async () => {
      const project = `${mcp.tenant.organization}/project`;
      const sides = ['A', 'B'];
      for (const side of sides) await push([await writeFlow(side, 'Base', 'base')], { project });
      const files = await Promise.all(sides.map((side) => writeFlow(side, side, side)));
      const pushes = await Promise.allSettled(files.map((file) => push([file], { project })));
      const refused = pushes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
      assert.deepEqual(
        refused.map(({ code }) => code),
        ['CONFLICT'],
        String(refused),
      );
      const winner = sides[pushes.findIndex(({ status }) => status === 'fulfilled')] as string;
      const { flow } = (await getFlowsOfFiles([files[0] as string], project)).flows[0] as { flow: Flow };
      assert.equal(flow.name, winner);
      assert.deepEqual(
        (await readTestCases(flow)).map(({ message }) => message),
        [winner],
      );
    });

    it('keeps a test case that was edited, created or deleted over HTTP since a push has read it', async () => {
      const project = `${mcp.tenant.organization}/project`;
      const file = await writeFlow('C', 'C', 'base');
      await push([file], { project, force: true });
      const plan = async () => {
        const [named] = (await getFlowsOfFiles([file], project)).flows;
        assert.ok(named?.flow);
        return { flow: named.flow, plan: await planPush(named) };
      };
      const refused = (code: string, { flow, plan }: { flow: Flow; plan: PushPlan }) =>
        assert.rejects(pushTestCases(flow, plan, false), { code });
      await writeFlow('C', 'C', 'mine');
      const first = await plan();
      const cases = `/${first.flow.id}/test-cases`;
      const [saved] = first.plan.tests;
      assert.equal((await http('POST', cases, testCase('theirs'))).status, 200);
      await refused('PRECONDITION_FAILED', first);
      await writeFile(testCasesFile(file), '[]');
      const deletion = await plan();
      assert.equal((await http('POST', cases, testCase('theirs again'))).status, 200);
      await refused('PRECONDITION_FAILED', deletion);
      await writeFlow('C', 'C', 'mine');
      const replacement = await plan();
      assert.equal((await http('DELETE', `${cases}/${saved?.test_case_id}`)).status, 204);
      await refused('NOT_FOUND', replacement);
      const creation = await plan();
      assert.equal((await http('POST', cases, testCase('theirs'))).status, 201);
      await refused('PRECONDITION_FAILED', creation);
      assert.deepEqual(
        (await readTestCases(first.flow)).map(({ message }) => message),
        ['theirs'],
      );
    });
  });
});
