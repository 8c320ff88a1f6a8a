// `weir completion`: the scripts in real shells, and the candidates of `weir __complete`.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { passthrough } from '../blocks.ts';
import { createOrganization, type Organization } from '../organization.ts';
import { getSharedWeir, type SharedWeir } from '../shared-weir.ts';
import { itWith } from '../where-available.ts';
import { ROOT, weirIn } from './cli-harness.ts';

describe('weir completion', () => {
  let weir: SharedWeir;
  let acme: Organization;
  let flow: string;
  let folder: string;
  before(async () => {
    weir = await getSharedWeir();
    acme = await createOrganization(weir, weir.provider);
    flow = await weir.createFlow(acme, [passthrough('a')]);
    folder = await mkdtemp(path.join(tmpdir(), 'weir-completion-'));
    const program = path.join(folder, 'weir');
    await writeFile(program, `#!/bin/sh\nexec ${process.execPath} ${ROOT}/cli/weir.js "$@"\n`);
    await writeFile(path.join(folder, 'npx'), '#!/bin/sh\nshift; exec "$@"\n');
    for (const file of ['weir', 'npx']) await chmod(path.join(folder, file), 0o755);
  });
  after(async () => {
    await rm(folder, { recursive: true });
    await weir.stop();
  });

  const env = () => ({ WEIR_URL: weir.url, WEIR_TOKEN: acme.token.member, WEIR_STATE_DIR: folder });
  const project = () => `${acme.organization}/project`;

  /** Lists the candidates for the last word. */
  async function candidates(...words: string[]): Promise<string[]> {
    const { code, stdout, stderr } = await weirIn(env(), ['__complete', ...words]);
    assert.deepEqual([code, stderr], [0, '']);
    return stdout.split('\n').slice(0, -1);
  }

  it('offers commands, options, and the choices of options and arguments', async () => {
    assert.deepEqual(await candidates('deliv'), ['deliveries']);
    assert.deepEqual(await candidates('operator', 'memb'), ['member']);
    assert.deepEqual(await candidates('flow', 'pu'), ['pull', 'push', 'publish']);
    assert.deepEqual(await candidates('keys', 'li'), ['list']);
    assert.deepEqual(await candidates('help', 'flow', 'dif'), ['diff']);
    assert.deepEqual(await candidates('operator', 'org', 'create', 'acme', '--o'), ['--owner']);
    assert.deepEqual(await candidates('run', 'a/b/c', '--message', '--idem', '--idem'), [
      '--idempotency-key',
    ]);
    assert.deepEqual(await candidates('runs', 'list', '--outcome', 'c'), ['completed', 'cancelled']);
    assert.deepEqual(await candidates('completion', ''), ['bash', 'zsh', 'fish']);
  });

  it('offers organizations, projects, flows, versions and recent runs of the caller', async () => {
    assert.deepEqual(await candidates('project', 'list', ''), [acme.organization]);
    assert.deepEqual(await candidates('flow', 'list', acme.organization), [project()]);
    assert.deepEqual(await candidates('run', ''), [`${project()}/`]);
    assert.deepEqual(await candidates('run', `${project()}/flow-`), [flow]);
    assert.deepEqual(await candidates('runs', 'list', ''), [acme.organization, project()]);
    assert.deepEqual(await candidates('runs', 'retry', '--failed', '--flow', `${project()}/flow-`), [flow]);
    assert.deepEqual(await candidates('run', flow, '--version', ''), ['1']);
    assert.deepEqual(await candidates('flow', 'diff', flow, '--from', ''), ['draft', '1']);
    assert.deepEqual(await candidates('runs', 'rerun', '--on-version', 'o'), ['original']);
    const started = await weirIn(env(), ['run', flow, '--message', 'hi', '--follow', '--json']);
    const { executionId } = JSON.parse(started.stdout);
    assert.deepEqual(await candidates('runs', 'show', ''), [executionId]);
    assert.deepEqual(await candidates('runs', 'cancel', executionId, executionId.slice(0, 8)), [executionId]);
  });

  it('offers nothing, and says nothing, where the service is away, nobody is signed in, or the words are no command', async () => {
    for (const change of [{ WEIR_URL: 'http://127.0.0.1:9' }, { WEIR_TOKEN: '' }])
      assert.deepEqual(await weirIn({ ...env(), ...change }, ['__complete', 'run', '']), {
        code: 0,
        stdout: '',
        stderr: '',
      });
    assert.deepEqual(await candidates('nosuch', 'x', ''), []);
    assert.deepEqual(await candidates('run', 'nosuch/project/'), []);
    assert.deepEqual(await candidates('flow', 'push', ''), []);
  });

  /** Runs a script in a shell that has `weir` in its PATH. */
  async function inShell(shell: string, args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(shell, args, {
      env: {
        ...env(),
        PATH: `${folder}:${process.env.PATH}`,
        HOME: folder,
        XDG_CONFIG_HOME: folder,
        TERM: 'dumb',
      },
    });
    return stdout.trim();
  }
  const scriptOf = async (shell: string) => (await weirIn({}, ['completion', shell])).stdout;

  itWith(['bash'], 'completes weir and npx weir in bash', async () => {
    const script = await scriptOf('bash');
    for (const [complete, before] of [
      ['_weir', ['weir']],
      ['_weir_npx', ['npx', 'weir']],
    ] as const) {
      const asked = (words: string[]) => {
        const line = [...before, ...words].map((word) => `'${word}'`).join(' ');
        const at = `COMP_WORDS=(${line}); COMP_CWORD=${before.length + words.length - 1}`;
        return inShell('bash', ['-c', `${script}\n${at}; ${complete}; echo "\${COMPREPLY[@]}"`]);
      };
      assert.equal(await asked(['flow', 'pu']), 'pull push publish');
      assert.equal(await asked(['run', `${project()}/flow-`]), flow);
    }
  });

  itWith(['zsh'], 'completes weir in zsh', async () => {
    // The completion system itself needs a terminal: its function that takes candidates prints them.
    const script = `compdef() { :; }; compadd() { print -r -- "$@"; }\n${await scriptOf('zsh')}`;
    const asked = (line: string, at: number) =>
      inShell('zsh', ['-fc', `${script}\nwords=(${line}); CURRENT=${at}; _weir`]);
    assert.match(await asked('weir flow pu', 3), /^-S {2}--\n-- pull push publish$/m);
    assert.match(await asked(`weir run ''`, 3), new RegExp(`^-S {2}-- ${project()}/$`, 'm'));
    assert.match(await asked(`weir run ${project()}/flow-`, 3), new RegExp(`^-- ${flow}$`, 'm'));
  });

  itWith(['fish'], 'completes weir in fish', async () => {
    const script = await scriptOf('fish');
    const asked = (line: string) => inShell('fish', ['-c', `${script}\ncomplete -C '${line}'`]);
    assert.equal(await asked('weir flow pu'), 'publish\npull\npush');
    assert.equal(await asked(`weir run ${project()}/flow-`), flow);
    assert.equal(await asked('weir run '), `${project()}/`);
  });
});
