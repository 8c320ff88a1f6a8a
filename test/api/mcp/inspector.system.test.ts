import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MCP_SCOPES } from '../../../api/auth/scopes.ts';
import { findFreePort } from '../../../dev/processes/ports.ts';
import { callEveryTool } from './call-every-tool.ts';
import { startOfficial } from './official-command.ts';
import { type SignInWeir, startSignInWeir } from './sign-in-harness.ts';

type Era = 'modern' | 'legacy';

describe('the inspector’s command line', function () {
  // Each call is a process.
  this.timeout(900_000);
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-inspector-'));
  let app: SignInWeir;
  let firstOutput: string;
  let sentTo: URL;
  before(async () => {
    app = await startSignInWeir();
    const callback = `http://127.0.0.1:${await findFreePort()}/oauth/callback`;
    const first = start(folder, ...LIST, '--callback-url', callback);
    [firstOutput, sentTo] = await Promise.all([first.output, first.signIn(app.identity.issuer, app.account)]);
  });
  after(async () => {
    await app.stop();
    rmSync(folder, { recursive: true });
  });

  const LIST = ['--method', 'tools/list', '--strict'];
  const start = (home: string, ...args: string[]) =>
    startOfficial('@modelcontextprotocol/inspector', 'mcp-inspector', home, [
      ...['--cli', app.mcpUrl.replace(/\/$/, ''), '--format', 'json'],
      ...args,
    ]);
  /** With the sign-in that it keeps, alone. */
  const inspect = async (...args: string[]) =>
    JSON.parse(await start(folder, '--stored-auth-only', ...args).output).result;
  const list = async (era: Era): Promise<string[]> => {
    const { tools } = await inspect(...LIST, '--protocol-era', era);
    return tools.map(({ name }: { name: string }) => name);
  };
  const call = async (era: Era, name: string, args: Record<string, unknown>) => {
    const tool = ['--tool-name', name, '--tool-args-json', JSON.stringify(args)];
    const { structuredContent } = await inspect('--method', 'tools/call', ...tool, '--protocol-era', era);
    return structuredContent;
  };

  it('signs its user in, knowing the URL alone', async () => {
    assert.ok(JSON.parse(firstOutput).result.tools.length > 0);
    assert.equal(sentTo.searchParams.get('scope'), [...MCP_SCOPES, 'offline_access'].join(' '));
    const elsewhere = mkdtempSync(path.join(folder, 'home-'));
    await assert.rejects(start(elsewhere, '--stored-auth-only', ...LIST).output, /"auth_required"/);
  });

  it('calls every tool, with the sign-in that it keeps', async () => {
    await callEveryTool({
      listed: await list('modern'),
      projectId: app.tenant.projectId,
      slug: 'inspected',
      callTool: (name, args) => call('modern', name, args),
    });
  });

  it('lists and calls tools in earlier revisions of the protocol, too', async () => {
    assert.deepEqual(await list('legacy'), await list('modern'));
    const { projects } = await call('legacy', 'list_projects', {});
    assert.deepEqual(
      projects.map(({ project_id }: { project_id: string }) => project_id),
      [app.tenant.projectId],
    );
  });
});
