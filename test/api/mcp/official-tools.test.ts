import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { startTokenProxy, type TokenProxy } from '../../fakes/token-proxy.ts';
import { type McpWeir, startMcpWeir } from './mcp-harness.ts';

const run = promisify(execFile);
const BASELINE = path.join(import.meta.dirname, 'conformance-baseline.yml');

/** Of an installed package, the script of its command `name`. */
function commandOf(packageName: string, name: string): string {
  const manifest = path.join(import.meta.dirname, '../../../node_modules', packageName, 'package.json');
  return path.join(path.dirname(manifest), createRequire(import.meta.url)(manifest).bin[name]);
}

describe('the protocol’s own tools', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-mcp-'));
  let proxy: TokenProxy;
  let mcp: McpWeir;
  before(async () => {
    proxy = await startTokenProxy();
    mcp = await startMcpWeir({ worker: false, env: { WEIR_MCP_ALLOWED_ORIGINS: proxy.origin } });
    await mcp.join('ada');
    proxy.forward(mcp.weir.url, await mcp.token('ada'));
  });
  after(async () => {
    await proxy.close();
    await mcp.stop();
    rmSync(folder, { recursive: true });
  });

  const command = async (script: string, ...args: string[]) =>
    (
      await run(process.execPath, [script, ...args], {
        cwd: folder,
        env: { PATH: process.env.PATH, HOME: folder },
        maxBuffer: 16 * 1024 * 1024,
      })
    ).stdout;
  const inspect = async (...args: string[]) =>
    JSON.parse(
      await command(
        commandOf('@modelcontextprotocol/inspector', 'mcp-inspector'),
        '--cli',
        `${proxy.origin}/api/v1/mcp`,
        ...args,
      ),
    );

  it('find the conformance suite passed, but for what does not apply', async () => {
    const report = await command(
      commandOf('@modelcontextprotocol/conformance', 'conformance'),
      ...['server', '--url', `${proxy.origin}/api/v1/mcp/`, '--suite', 'all'],
      ...['--expected-failures', BASELINE, '--output-dir', folder],
    );
    for (const scenario of ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'])
      assert.match(report, new RegExp(`✓ ${scenario}: [1-9]`));
  });

  it('list and call the tools from the inspector’s command line', async () => {
    const { tools } = await inspect('--method', 'tools/list');
    assert.ok(tools.length >= 13);
    const project_id = mcp.tenant.projectId;
    const call = (name: string, args: string[]) =>
      inspect('--method', 'tools/call', '--tool-name', name, ...args.flatMap((arg) => ['--tool-arg', arg]));
    const created = await call('create_flow', [`project_id=${project_id}`, 'name=Flow', 'slug=inspected']);
    const project = await call('hydrate_project', [`project_id=${project_id}`]);
    assert.equal(project.structuredContent.flows[0].flow_id, created.structuredContent.flow_id);
  });
});
