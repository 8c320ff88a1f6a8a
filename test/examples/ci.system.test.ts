// examples/ci: the pipeline, with nothing but a scoped key, from an empty project to a run and back.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { parse } from 'yaml';
import { countUsage } from '../../db/usage/count-usage.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { createScopedKey } from '../scoped-key.ts';
import { waitUntil } from '../wait-until.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const EXAMPLE = path.join(ROOT, 'examples/ci');

type Usage = { keyId: string | null; runs: number };

describe('the pipeline of examples/ci', () => {
  it('is called by the workflow with what it knows', async () => {
    const script = await readFile(path.join(EXAMPLE, 'pipeline.sh'), 'utf8');
    const workflow = parse(await readFile(path.join(EXAMPLE, '.github/workflows/flows.yaml'), 'utf8'));
    const steps = workflow.jobs.flows.steps as { run?: string }[];
    const called = steps.flatMap(({ run = '' }) => /^\.\/pipeline\.sh ([a-z-]+)/.exec(run)?.[1] ?? []);
    assert.deepEqual(called, ['test', 'deploy', 'check', 'roll-back']);
    for (const name of called) assert.match(script, new RegExp(`^ {2}${name}\\)$`, 'm'));
  });

  it('says how to get the command where it is missing', async () => {
    const tools = await mkdtemp(path.join(tmpdir(), 'weir-ci-tools-'));
    try {
      const dirname = execFileSync('/bin/sh', ['-c', 'command -v dirname'], { encoding: 'utf8' }).trim();
      await symlink(dirname, path.join(tools, 'dirname'));
      const script = path.join(EXAMPLE, 'pipeline.sh');
      const { status, stderr } = spawnSync(script, ['test'], { env: { PATH: tools }, encoding: 'utf8' });
      assert.equal(status, 1);
      assert.match(stderr, /^The command weir is missing: clone .* npm ci and npm link there\.$/m);
    } finally {
      await rm(tools, { recursive: true });
    }
  });

  it('says nothing that leads nowhere once the folder is copied', async () => {
    const files = await readdir(EXAMPLE, { recursive: true, withFileTypes: true });
    for (const file of files.filter((one) => one.isFile())) {
      const place = path.join(file.parentPath, file.name);
      assert.doesNotMatch(await readFile(place, 'utf8'), /\.\.\/|(?<!`)npx/, place);
    }
  });

  let weir: Weir;
  let tenant: Tenant;
  let key: string;
  let keyId: string;
  let folder: string;
  before(async () => {
    weir = await startWeir();
    tenant = await weir.createTenant();
    ({ key, keyId } = await createScopedKey(weir, tenant.projectId, 'deploy', 'run', 'read'));
    folder = await mkdtemp(path.join(tmpdir(), 'weir-ci-'));
    await cp(EXAMPLE, repository(), { recursive: true });
    // As npm link does.
    await mkdir(path.join(folder, 'bin'));
    await symlink(path.join(ROOT, 'cli/weir.js'), path.join(folder, 'bin/weir'));
    git('init', '--quiet', '--initial-branch=main');
    commit('The flows');
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
    await weir.stop();
  });

  const repository = () => path.join(folder, 'repository');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@acme.test', ...args], {
      cwd: repository(),
      env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
      encoding: 'utf8',
    });
  const commit = (message: string) => {
    git('add', '--all');
    git('commit', '--quiet', '--message', message);
  };
  const project = () => `${tenant.organization}/project`;

  /** Runs a command with no other variables than a pipeline has, in a checkout of its own as each pipeline does. */
  async function inCheckout(command: string, ...args: string[]) {
    const checkout = await mkdtemp(path.join(folder, 'checkout-'));
    git('clone', '--quiet', repository(), checkout);
    const child = spawn(command, args, {
      cwd: checkout,
      env: {
        PATH: `${path.join(folder, 'bin')}:${path.dirname(process.execPath)}:${process.env.PATH}`,
        HOME: checkout,
        WEIR_URL: weir.url,
        WEIR_PROJECT: project(),
        WEIR_API_KEY: key,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const code = new Promise<number | null>((resolve) => child.on('close', resolve));
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return { code: await code, stdout, stderr };
  }
  const pipeline = (...args: string[]) => inCheckout('./pipeline.sh', ...args);
  const run = async (message: string) => {
    const { body } = await weir.call('POST', `${project()}/word-count/execute`, { key, body: { message } });
    return body.result;
  };

  it('deploys from an empty project to a run and its usage', async () => {
    const first = await pipeline('deploy');
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stdout, /Created .*\/initials/);
    assert.match(first.stdout, /3 of 3 test cases passed\./);
    assert.match(first.stdout, /Version 1 of .*\/word-count is now in production\./);
    const weirCommand = [process.execPath, path.join(ROOT, 'cli/weir.js')] as const;
    const flow = `${project()}/word-count`;
    const ran = await inCheckout(...weirCommand, 'run', flow, '--message', 'a b c', '--follow');
    assert.match(ran.stdout, /Completed in .* credits:\n\{\n {2}"words": 3/);
    // A scheduled job counts usage after a run has ended.
    const usage = await waitUntil(async () => {
      await countUsage(weir.db, 1_000);
      const { body } = await weir.call('GET', `/projects/${tenant.projectId}/usage?by=key`, { key });
      return body.entries.find((one: Usage) => one.keyId === keyId && one.runs > 0);
    });
    assert.equal(usage.runs, 1);
    const { code: checked } = await pipeline('check');
    assert.equal(checked, 0);
  });

  it('leaves callers their version when a test fails, and deploys when the tests pass', async () => {
    const file = path.join(repository(), 'flows/word-count.yaml');
    const old = await readFile(file, 'utf8');
    await writeFile(file, old.replace('{ words:', '{ counted: true, words:'));
    commit('Say that it was counted');
    const failing = await pipeline('deploy');
    assert.equal(failing.code, 1);
    assert.match(failing.stdout, /counts words +failed/);
    assert.deepEqual(await run('a b c'), { words: 3 });

    const tests = path.join(repository(), 'flows/word-count.tests.yaml');
    await writeFile(tests, (await readFile(tests, 'utf8')).replaceAll('{ words:', '{ counted: true, words:'));
    commit('Expect it');
    const second = await pipeline('deploy');
    assert.equal(second.code, 0, second.stderr);
    assert.match(second.stdout, /\/initials is published as version 1\./);
    assert.deepEqual(await run('a b c'), { counted: true, words: 3 });
  });

  it('prints how it is called when a roll-back has no version', async () => {
    const { code, stderr } = await pipeline('roll-back', 'word-count');
    assert.equal(code, 2);
    assert.match(stderr, /^usage: pipeline\.sh .* roll-back <flow> <version>$/m);
  });

  it('makes callers run an earlier version, and stops at an edit made elsewhere', async () => {
    const back = await pipeline('roll-back', 'word-count', '1');
    assert.equal(back.code, 0, back.stderr);
    assert.deepEqual(await run('a b c'), { words: 3 });

    const flows = `/projects/${tenant.projectId}/flows`;
    const { body } = await weir.call('GET', flows, { key });
    const { id } = body.flows.find(({ slug }: { slug: string }) => slug === 'word-count');
    const steps = [{ step_id: 'elsewhere', processor_type: 'passthrough' }];
    const edit = { key, body: { steps }, headers: { 'if-match': '*' } };
    assert.equal((await weir.call('PUT', `${flows}/${id}/draft`, edit)).status, 200);
    assert.equal((await pipeline('check')).code, 1);
    const refused = await pipeline('deploy');
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /never held[\s\S]*- elsewhere/);
  });
});
