// Clients that three generators make of the API document compile, and write back a draft that they have read.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Weir } from '../../harness.ts';
import { createScopedKey } from '../../scoped-key.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { hasJava } from './has-java.ts';
import { hasPython } from './has-python.ts';
import { CLIENTS, installNpmTools, installPythonTools } from './install-tools.ts';

const run = promisify(execFile);
const hasGenerator = hasJava() && hasPython();

const block = (step_id: string) => ({
  type: 'sequential',
  step_id,
  name: `Block ${step_id}`,
  processor_type: 'passthrough',
});
/** Steps with every field, as the service answers them. */
const STEPS = [
  {
    ...block('ask'),
    processor_type: 'llm',
    model: 'demo/chat',
    prompt: 'List what is in {{message}}.',
    inputSchema: true,
    outputSchema: {
      type: 'array',
      items: { $ref: '#/$defs/tree' },
      $defs: { tree: { items: { $ref: '#' } } },
    },
    processor_config: {
      max_tokens: 100,
      on_length: 'fail',
      timeout_ms: 10_000,
      max_retries: 2,
      temperature: 0.5,
      top_p: 1,
      stop: ['a', 'b'],
      seed: 7,
      reasoning_effort: 'low',
      api: 'openai-responses',
      prompt_cache: '1h',
      messages: [{ role: 'user', content: 'Hi' }],
      system: 'Be brief.',
    },
  },
  {
    type: 'loop',
    step_id: 'each',
    name: 'Each',
    body: [{ ...block('in'), processor_config: { stop: 'x' } }],
    max_iterations: 7,
    until: { pointer: '/done', equals: { list: [null, 1, 'a', { deep: [true] }] } },
  },
  {
    type: 'parallel',
    step_id: 'views',
    name: 'Views',
    branches: {
      left: [block('l')],
      'right side': [
        {
          type: 'loop',
          step_id: 'inner',
          name: 'Inner',
          body: [block('m')],
          max_iterations: 100,
          until: { pointer: '', equals: null },
        },
      ],
    },
  },
];

type Step = { [field: string]: unknown; name: string; body?: Step[]; branches?: { [name: string]: Step[] } };

/** Renames blocks as the clients do. */
function rename({ body, branches = {}, ...step }: Step): Step {
  if (step.type === 'sequential') return { ...step, name: `New ${step.name}` };
  if (body) return { ...step, body: body.map(rename) };
  const renamed = Object.entries(branches).map(([name, steps]) => [name, steps.map(rename)]);
  return { ...step, branches: Object.fromEntries(renamed) };
}

describe('A client of the OpenAPI document writes back a draft that it has read', () => {
  let weir: Weir;
  let tools: string;
  let folder: string;
  let projectId: string;
  let flowId: string;
  let key: string;
  before(async () => {
    [weir, tools] = await Promise.all([getSharedWeir(), installNpmTools()]);
    folder = await mkdtemp(path.join(tmpdir(), 'weir-clients-'));
    await symlink(path.join(tools, 'node_modules'), path.join(folder, 'node_modules'));
    const document = await (await fetch(`${weir.url}/openapi.json`)).text();
    await writeFile(path.join(folder, 'openapi.json'), document);
    projectId = (await weir.createTenant()).projectId;
    key = (await createScopedKey(weir, projectId, 'deploy', 'read')).key;
  });
  beforeEach(async () => {
    const flow = { name: 'Draft', slug: `draft-${crypto.randomUUID()}` };
    flowId = (await weir.call('POST', `/projects/${projectId}/flows`, { key, body: flow })).body.id;
    const written = await draft('PUT', { steps: STEPS });
    assert.equal(written.status, 200, JSON.stringify(written.body));
  });
  after(async () => {
    await weir.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const draft = (method: string, body?: object) =>
    weir.call(method, `/projects/${projectId}/flows/${flowId}/draft`, {
      key,
      body,
      ...(body && { headers: { 'if-match': '*' } }),
    });
  const command = (cwd: string, name: string, ...args: string[]) =>
    run(name, args, { cwd }).catch((error) => {
      throw new Error(`${error.stdout}\n${error.stderr}`);
    });
  const tool = (cwd: string, name: string, ...args: string[]) =>
    command(cwd, process.execPath, path.join(tools, 'node_modules', name), ...args);

  /** Compiles and runs the program of a generator in its folder. Asserts that its draft arrives. */
  async function writesBack(at: string, program: string, ...options: string[]): Promise<void> {
    await cp(path.join(CLIENTS, program), path.join(at, program));
    const types = ['--strict', '--target', 'es2024', '--lib', 'es2024,dom,dom.iterable'];
    await tool(at, 'typescript/bin/tsc', ...types, ...options, program);
    const compiled = program.replace(/ts$/, 'js');
    const { stdout } = await command(at, process.execPath, compiled, weir.url, key, projectId, flowId);
    assert.equal(stdout, 'unchanged\nchanged\n');
    const added = { type: 'sequential', step_id: 'added', name: 'Added', processor_type: 'passthrough' };
    assert.deepEqual((await draft('GET')).body.steps, [...STEPS.map(rename), added]);
  }

  async function folderOf(type: 'module' | 'commonjs'): Promise<string> {
    const at = await mkdtemp(path.join(folder, 'client-'));
    await writeFile(path.join(at, 'package.json'), JSON.stringify({ type }));
    return at;
  }

  it('with openapi-typescript', async () => {
    const at = await folderOf('module');
    // As a source, because skipLibCheck leaves declarations unchecked.
    await tool(at, 'openapi-typescript/bin/cli.js', '../openapi.json', '-o', 'api.ts');
    await writesBack(at, 'draft-of-openapi-typescript.mts', '--module', 'nodenext', '--skipLibCheck');
  });

  it('with @hey-api/openapi-ts', async () => {
    const at = await folderOf('commonjs');
    const options = '-i ../openapi.json -o client -c @hey-api/client-fetch'.split(' ');
    await tool(at, '@hey-api/openapi-ts/bin/run.js', ...options);
    await writesBack(at, 'draft-of-hey-api.cts', '--module', 'commonjs');
  });

  if (!hasGenerator) it('with openapi-generator: left out, there is no Java or no Python 3.11', () => {});
  else
    it('with openapi-generator', async () => {
      const at = await folderOf('commonjs');
      const generator = path.join(await installPythonTools(), 'bin/openapi-generator-cli');
      const options = 'generate -i ../openapi.json -g typescript-fetch -o client'.split(' ');
      await command(at, generator, ...options);
      await writesBack(at, 'draft-of-openapi-generator.cts', '--module', 'commonjs');
    });
});
