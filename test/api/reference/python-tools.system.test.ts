import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { passthrough } from '../../blocks.ts';
import type { Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { hasPython } from './has-python.ts';
import { CLIENTS, installPythonTools } from './install-tools.ts';

const run = promisify(execFile);

if (!hasPython())
  describe('The OpenAPI document, with tools from PyPI: left out, there is no Python 3.11', () => {});
else
  describe('The OpenAPI document, with tools from PyPI', () => {
    let weir: Weir;
    let bin: string;
    let folder: string;
    before(async () => {
      const [started, installed] = await Promise.all([getSharedWeir(), installPythonTools()]);
      weir = started;
      bin = path.join(installed, 'bin');
      folder = await mkdtemp(path.join(tmpdir(), 'weir-reference-'));
      const document = await (await fetch(`${weir.url}/openapi.json`)).text();
      await writeFile(path.join(folder, 'openapi.json'), document);
    });
    after(async () => {
      await weir.stop();
      await rm(folder, { recursive: true, force: true });
    });

    const command = (name: string, ...args: string[]) =>
      run(path.join(bin, name), args, { cwd: folder }).catch((error) => {
        throw new Error(`${error.stdout}\n${error.stderr}`);
      });

    it('is valid for openapi-spec-validator', async () => {
      const { stdout } = await command('openapi-spec-validator', 'openapi.json');
      assert.match(stdout, /^openapi\.json: OK/);
    });

    it('makes a Python client that imports, tells each status apart, and makes calls', async () => {
      await writeFile(path.join(folder, 'options.yaml'), 'post_hooks: []\n');
      const output = ['--output-path', 'weir_client', '--meta', 'none', '--config', 'options.yaml'];
      const made = await command('openapi-python-client', 'generate', '--path', 'openapi.json', ...output);
      assert.doesNotMatch(made.stdout, /warning|unable/i);
      await cp(path.join(CLIENTS, 'client.py'), path.join(folder, 'client.py'));
      const tenant = await weir.createTenant();
      const flow = await weir.createFlow(tenant, [passthrough('keep')]);
      const { stdout } = await command('python', 'client.py', weir.url, tenant.key, ...flow.split('/'));
      assert.equal(stdout, 'completed rivers\njob rivers\nrefused FLOW_NOT_FOUND\n');
    });
  });
