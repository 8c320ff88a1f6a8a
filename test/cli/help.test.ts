import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fail, ROOT, weirIn } from './cli-harness.ts';

const weir = (...args: string[]) => weirIn({}, args);

describe('weir without a service', () => {
  it('prints its version', async () => {
    const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
    assert.deepEqual(await weir('--version'), { code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('shows the help of a command by its whole name', async () => {
    const { code, stdout } = await weir('help', 'flow', 'import');
    assert.equal(code, 0);
    assert.match(stdout, /^Usage: weir flow import /);
    assert.equal(stdout, (await weir('flow', 'import', '--help')).stdout);
    assert.match((await weir('help')).stdout, /^Usage: weir /);
  });

  for (const args of [
    ['help', 'nosuch'],
    ['help', 'flow', 'nosuch'],
    ['nosuch'],
    ['flow'],
    ['flow', 'nosuch'],
    ['flow', 'delete'],
    ['completion', 'fish'],
    ['completion'],
    ['runs', 'list', '--limit', '0'],
    ['--nosuch'],
    ['member', 'add', 'acme', '..'],
    ['flow', 'export', 'acme/flow'],
    ['flow', 'import', 'flow.yaml', '--project', 'acme'],
    ['key', 'list', 'acme'],
    ['runs', 'fork', 'id'],
    ['runs', 'fork', 'id', '--step', '-1'],
    ['run', 'a/b/c', '--message', 'm', '--override', 'topics'],
    ['run', 'a/b/c', '--message', 'm', '--max-credits', '0'],
    ['run', 'a/b/c', '--message', 'm', '--idempotency-key', 'two words'],
    ['run', 'a/b/c', '--message', 'm', '--callback-url', 'http://a.example/'],
    ['token', 'more'],
  ])
    it(`ends with 2 when it is called wrongly: weir ${args.join(' ')}`, async () => {
      await fail(2, weir(...args));
    });

  it('completes commands and options in bash', async () => {
    const { stdout: script } = await weir('completion', 'bash');
    const complete = (...words: string[]) => {
      const line = ['weir', ...words].map((word) => `'${word}'`).join(' ');
      const asked = `${script}\nCOMP_WORDS=(${line}); COMP_CWORD=${words.length}; _weir; echo "\${COMPREPLY[@]}"`;
      return execFileSync('bash', ['-c', asked], { encoding: 'utf8' }).trim();
    };
    assert.equal(complete('memb'), 'member');
    assert.equal(complete('flow', 'exp'), 'export');
    assert.equal(complete('flow', 'export', 'a/b/c', '--f'), '--format');
    assert.equal(complete('runs', 'list', '--st'), '--status');
    assert.equal(complete('deliv'), 'deliveries');
    assert.equal(complete('deliveries', 'redel'), 'redeliver');
    assert.equal(complete('runs', 'fo'), 'fork');
    assert.equal(complete('run', 'a/b/c', '--idem'), '--idempotency-key');
  });
});
