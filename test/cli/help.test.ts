import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { createProgram } from '../../cli/program.ts';
import { fail, ROOT, weirIn } from './cli-harness.ts';

const weir = (...args: string[]) => weirIn({}, args);

const withChildren = (command: Command): Command[] => [command, ...command.commands.flatMap(withChildren)];

function helpOf(command: Command, columns = 80): string {
  let help = '';
  command
    .configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => columns })
    .outputHelp();
  return help;
}

describe('weir without a service', () => {
  it('prints its version', async () => {
    const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
    assert.deepEqual(await weir('--version'), { code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('shows the help of a command by its whole name', async () => {
    const { code, stdout } = await weir('help', 'operator', 'org', 'create');
    assert.equal(code, 0);
    assert.match(stdout, /^Usage: weir operator org create /);
    assert.equal(stdout, (await weir('operator', 'org', 'create', '--help')).stdout);
    assert.match((await weir('help')).stdout, /^Usage: weir /);
    assert.deepEqual(await weir('help', 'keys'), await weir('help', 'key'));
  });

  it('names the commands that are written almost so, also in help', async () => {
    for (const names of [['operater'], ['operator', 'runs', 'stuk']]) {
      const said = await fail(2, weir('help', ...names));
      assert.match(said, /Did you mean/);
      assert.equal(said, await fail(2, weir(...names)));
    }
  });

  it('shows help in lines of at most 80 columns', async () => {
    for (const command of withChildren(await createProgram()))
      for (const line of helpOf(command).split('\n'))
        assert.ok(line.length <= 80, `${command.name()}: ${line}`);
  });

  it('wraps what commands, arguments and options do at a terminal of 40 columns', async () => {
    for (const command of withChildren(await createProgram())) {
      const [items = ''] = helpOf(command, 40).split(/^Examples?:$/m);
      const isTerm = (line: string) => /^ {2}\S+(,? [-<[]\S+)*$/.test(line);
      for (const line of items.split('\n').filter((one) => one.startsWith('  ') && !isTerm(one)))
        assert.ok(line.length <= 40, `${command.name()}: ${line}`);
    }
    assert.match(helpOf(await createProgram(), 40), /^ {2}doctor \[options\]\n {6}check the .*\n {6}\S.*\n/m);
  });

  it('declares each command, by its name and its alias, without loading the others', async () => {
    const all = (await createProgram()).commands;
    for (const command of all)
      for (const name of [command.name(), ...command.aliases()]) {
        const { commands } = await createProgram(name);
        const isAlways = ['completion', 'help'].includes(name);
        assert.ok(
          commands.some((one) => one.name() === command.name()),
          name,
        );
        assert.ok(isAlways ? commands.length === all.length : commands.length <= 4, name);
      }
  });

  it('says of an option that it is required', async () => {
    const { stdout } = await weir('key', 'create', '--help');
    assert.match(stdout, /--name <name> +what the key is for \(required\)\n/);
    assert.doesNotMatch(stdout, /--environment[^-]*\(required\)/);
  });

  it('shows an example in the help of each command that works over HTTP, and has --json on each that prints data', async () => {
    const { commands } = await createProgram();
    for (const command of commands.flatMap(withChildren)) {
      if (command.commands.length > 0 || ['help', 'reencrypt'].includes(command.name())) continue;
      const name = `${command.parent?.name()} ${command.name()}`;
      assert.match(helpOf(command), /^Examples?:\n {2}.*weir /m, name);
      if (command.name() !== 'completion') assert.match(helpOf(command), /--json/, name);
    }
  });

  it('shows how an override is written when it is not a JSON object', async () => {
    const said = await fail(2, weir('run', 'a/b/c', '--message', 'm', '--override', 'x=1'));
    assert.match(said, /Give a JSON object, e\.g\. 'topics=\{"prompt":/);
  });

  it('says of an argument that is neither a flow, a file nor a folder what it may be, and how a version is given', async () => {
    const neither = 'is neither the path of a flow (org/project/flow) nor a file or folder that exists.';
    for (const [args, hint] of [
      [['promote', 'a/b/c', '9'], ' A version is given as --version 9.'],
      [['diff', 'a/b/c', '9'], ' A version is given as --from 9.'],
      [['publish', 'a/b/c', '9', '--note', 'x'], ''],
    ] as const)
      assert.equal(await fail(2, weir('flow', ...args)), `9 ${neither}${hint}\n`);
    assert.equal(await fail(2, weir('test', 'acme/main')), `acme/main ${neither}\n`);
  });

  for (const args of [
    ['help', 'nosuch'],
    ['help', 'operator', 'org', 'create', 'nosuch'],
    ['completion', 'bash', '--json'],
    ['help', 'operator', 'org', 'nosuch'],
    ['nosuch'],
    ['operator', 'org'],
    ['operator', 'org', 'nosuch'],
    ['flow', 'delete'],
    ['completion', 'ksh'],
    ['completion'],
    ['operator', 'runs', 'stuck', '--limit', '0'],
    ['runs', 'list', '--limit', '0'],
    ['--nosuch'],
    ['member', 'add', 'acme', '..'],
    ['operator', 'member', 'set-role', 'acme', '..', 'owner'],
    ['key', 'list', 'acme'],
    ['deliveries', 'test', 'acme'],
    ['deliveries', 'test', 'acme', '--url', 'http://example.com/'],
    ['deliveries', 'list'],
    ['deliveries', 'list', 'acme', '--status', 'lost'],
    ['deliveries', 'recover', 'acme', '--since', 'yesterday'],
    ['run', 'a/b/c', '--message', 'm', '--override', 'topics'],
    ['run', 'a/b/c', '--message', 'm', '--max-credits', '0'],
    ['run', 'a/b/c', '--message', 'm', '--idempotency-key', 'two words'],
    ['run', 'a/b/c', '--message', 'm', '--callback-url', 'http://a.example/'],
    ['token', 'more'],
    ['login', 'nonsense'],
    ['flow', 'create', 'a/b/Bad_Slug', '--name', 'x'],
    ['flow', 'delete', 'a/b/c', '--confirm', 'd'],
    ['usage', 'acme', '--from', 'soon'],
    ['runs', 'list', '--min-cost', 'much'],
    ['runs', 'list', '--id', 'x'],
    ['runs', 'list', '--key', 'x'],
    ['invitation', 'accept', 'x'],
  ])
    it(`ends with 2 and says why when it is called wrongly: weir ${args.join(' ')}`, async () => {
      assert.notEqual(await fail(2, weir(...args)), '');
    });
});
