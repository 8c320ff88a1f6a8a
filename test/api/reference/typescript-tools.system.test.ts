import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { passthrough } from '../../blocks.ts';
import type { Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { CLIENTS, installNpmTools } from './install-tools.ts';

const run = promisify(execFile);

describe('The OpenAPI document, with tools from npm', () => {
  let weir: Weir;
  let folder: string;
  before(async () => {
    [weir, folder] = await Promise.all([getSharedWeir(), installNpmTools()]);
    const document = await (await fetch(`${weir.url}/openapi.json`)).text();
    await writeFile(path.join(folder, 'openapi.json'), document);
  });
  after(() => weir.stop());

  const command = (name: string, ...args: string[]) =>
    run(process.execPath, [path.join(folder, name), ...args], { cwd: folder }).catch((error) => {
      throw new Error(`${error.stdout}\n${error.stderr}`);
    });
  const copy = (name: string) => cp(path.join(CLIENTS, name), path.join(folder, name));

  it('has no errors for Redocly and Spectral', async () => {
    await copy('lint.mjs');
    const { stdout } = await command('lint.mjs');
    assert.deepEqual(JSON.parse(stdout), { redocly: [], spectral: [] });
  });

  it('makes a TypeScript client that compiles, narrows on status, and makes calls', async () => {
    await copy('client.mts');
    await command('node_modules/openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'api.d.ts');
    const options = ['--strict', '--skipLibCheck'];
    const target = ['--target', 'es2024', '--module', 'nodenext', '--lib', 'es2024,dom'];
    await command('node_modules/typescript/bin/tsc', ...options, ...target, 'client.mts');
    const tenant = await weir.createTenant();
    const flow = await weir.createFlow(tenant, [passthrough('keep')]);
    const { stdout } = await command('client.mjs', weir.url, tenant.key, ...flow.split('/'));
    assert.equal(stdout, 'completed "rivers"\njob "rivers"\nrefused FLOW_NOT_FOUND\n');
  });
});
