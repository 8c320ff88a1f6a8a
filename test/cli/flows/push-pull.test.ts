// `weir flow push`, and `pull` of what was pushed.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { fail, weirIn } from '../cli-harness.ts';
import { block, flowFile, useFlowCli } from './flow-cli.ts';

const TESTS = `- { name: shouts, message: hi, expectation: { type: equals, value: HI } }
- { name: with parameters, message: hi, parameters: { loud: true }, expectation: { type: contains, text: H } }
`;

describe('weir flow push', () => {
  const { cli, git, at, write, read, flow, succeed, succeedJson, refused, editElsewhere } = useFlowCli();
  const flowOf = (slug: string) => `${cli.project}/${slug}`;
  const forget = () => rm(at('state'), { recursive: true, force: true });

  it('creates the flow of a file, with its test cases; what was pulled then changes nothing', async () => {
    await write('new.yaml', `${flowFile('new', 'return input.toUpperCase();')}description: Shouts.\n`);
    await write('new.tests.yaml', TESTS);
    assert.match(await succeed('push', at('new.yaml')), /^Created .*\/new /);
    assert.match(await succeed('push', at('new.yaml')), /^Unchanged/);
    for (const name of ['pulled.yaml', 'pulled.json']) {
      await succeed('pull', flowOf('new'), at(name));
      const [pushed] = await succeedJson('push', at(name));
      assert.deepEqual([pushed.changes, pushed.testChanges, pushed.created], [[], [], false]);
    }
    assert.equal((await read('pulled.tests.yaml')).match(/- name:/g)?.length, 2);
    assert.match(await read('pulled.yaml'), /^description: Shouts\.$/m);
    assert.match(await succeed('pull', flowOf('new'), '-'), /^name: Flow new$/m);
  });

  it('leaves the text of a file alone that says what the draft holds', async () => {
    await write('kept.yaml', flowFile('kept', 'return 1;'));
    await succeed('push', at('kept.yaml'));
    await succeed('pull', flowOf('kept'), at('kept.yaml'));
    assert.equal(await read('kept.yaml'), flowFile('kept', 'return 1;'));
  });

  it('changes a draft, its names and its test cases, and shows what changed', async () => {
    await write('change.yaml', flowFile('change', 'return 1;'));
    await write('change.tests.yaml', TESTS);
    await succeed('push', at('change.yaml'));
    await write(
      'change.yaml',
      flowFile('change', 'return 2;', 'return 3;').replace('name: Flow', 'name: My'),
    );
    await write(
      'change.tests.yaml',
      TESTS.replace('value: HI', 'value: ho').replace(/- \{ name: with.*/, ''),
    );
    const shown = await succeed('push', at('change.yaml'));
    assert.match(shown, /^ {2}name: "Flow change" → "My change"$/m);
    assert.match(shown, /^ {2}step-0\.prompt: "return 1;" → "return 2;"$/m);
    assert.match(shown, /^ {2}\+ step-1: \{/m);
    assert.match(shown, /^ {2}test "shouts": .*HI.* → .*ho/m);
    assert.match(shown, /^ {2}- test "with parameters": /m);
    assert.doesNotMatch(shown, /_at|etag|test_case_id/);
    assert.match(await succeed('push', '--check', at('change.yaml')), / is as .*change\.yaml says\./);
  });

  it('shows notes at their steps, also with --check and when a version is published', async () => {
    await write('noted.yaml', flowFile('noted', 'const a = 1;'));
    const note =
      /^ {2}note: steps\[0\]\.prompt \(step-0\): The code never returns a value, so the output is null: add a return\.$/m;
    const checked = await flow('push', '--check', at('noted.yaml'));
    assert.equal(checked.code, 1);
    assert.match(checked.stdout, note);
    const [pushed] = await succeedJson('push', at('noted.yaml'));
    assert.deepEqual(
      pushed.notes.map(({ step_id }: { step_id: string }) => step_id),
      ['step-0'],
    );
    assert.match(await succeed('publish', flowOf('noted'), '--note', 'first'), note);
    const production = await succeed('push', '--production', at('noted.yaml'));
    assert.equal(production.match(/note:/g)?.length, 1);
  });

  it('names the step of each problem', async () => {
    await write('unfinished.yaml', flowFile('unfinished', 'return outputs.none;'));
    const [{ problems }] = await succeedJson('push', at('unfinished.yaml'));
    assert.deepEqual(
      problems.map(({ path, step_id }: { [field: string]: string }) => [path, step_id]),
      [['steps[0].prompt', 'step-0']],
    );
  });

  it('refuses to replace an edit made elsewhere, says which, and replaces it with --force', async () => {
    await write('edited.yaml', flowFile('edited', 'return 1;'));
    await succeed('push', at('edited.yaml'));
    await editElsewhere('edited', [block('assistant')]);
    await write('edited.yaml', flowFile('edited', 'return 2;'));
    const why = await refused('push', at('edited.yaml'));
    assert.match(why, /\/edited has edits in its draft that .*edited\.yaml never held/);
    assert.match(why, /^ {2}- assistant: /m);
    assert.match(await succeed('pull', flowOf('edited'), '-'), /assistant/);
    await succeed('push', '--force', at('edited.yaml'));
    assert.match(await succeed('pull', flowOf('edited'), '-'), /return 2;/);
  });

  it('pushes no file when one of several is refused', async () => {
    for (const slug of ['one', 'two']) await write(`${slug}.yaml`, flowFile(slug, 'return 1;'));
    await succeed('push', at('one.yaml'), at('two.yaml'));
    await editElsewhere('two', [block('assistant')]);
    for (const slug of ['one', 'two']) await write(`${slug}.yaml`, flowFile(slug, 'return 2;'));
    await refused('push', at('one.yaml'), at('two.yaml'));
    assert.match(await succeed('pull', flowOf('one'), '-'), /return 1;/);
  });

  it('replaces, in a fresh checkout, what the file held in an earlier commit, and nothing else', async () => {
    await write('history.yaml', flowFile('history', 'return 1;'));
    git('add', 'history.yaml');
    git('commit', '--quiet', '-m', 'one');
    await succeed('push', at('history.yaml'));
    await forget();
    git('mv', 'history.yaml', 'moved.yaml');
    await write('moved.yaml', flowFile('history', 'return 2;'));
    git('commit', '--quiet', '-am', 'two');
    assert.match(await succeed('push', at('moved.yaml')), /^Changed/);
    await forget();
    await write('moved.yaml', flowFile('history', 'return 3;'));
    git('commit', '--quiet', '-am', 'three');
    await editElsewhere('history', [block('assistant')]);
    await refused('push', at('moved.yaml'));
    git('clone', '--quiet', '--depth', '1', `file://${cli.folder}`, 'shallow');
    assert.match(await refused('push', at('shallow/moved.yaml')), /fetch-depth: 0/);
  });

  it('with --check compares production too, and exits with 1 when it differs', async () => {
    const check = () => flow('push', '--check', '--json', at('live.yaml'));
    await write('live.yaml', flowFile('live', 'return 1;'));
    await succeed('push', at('live.yaml'));
    assert.match(await succeed('push', '--check', at('live.yaml')), /\n {2}In production: no version\.\n$/);
    await succeed('push', at('live.yaml'), '--production');
    assert.match(
      await succeed('push', '--check', at('live.yaml')),
      /^The draft of \S+\/live is as .*live\.yaml says\.\n {2}In production: version 1, as the file says\.\n$/,
    );
    await write('live.yaml', flowFile('live', 'return 2;'));
    await succeed('push', at('live.yaml'));
    const { code, stdout } = await check();
    const [{ differs, changes, production }] = JSON.parse(stdout);
    assert.deepEqual([code, differs, changes, production.version], [1, true, [], 1]);
    assert.deepEqual(
      production.changes.map(({ step_id, field, from, to }: { [field: string]: string }) => [
        step_id,
        field,
        from,
        to,
      ]),
      [['step-0', 'prompt', 'return 1;', 'return 2;']],
    );
    assert.match(
      (await flow('push', '--check', at('live.yaml'))).stdout,
      /version 1, which differs\. From it to \S+live\.yaml:\n {2}step-0\.prompt: "return 1;" → "return 2;"\n$/,
    );
  });

  it('with --check changes nothing, and exits with 1 when a file differs or its flow does not exist', async () => {
    await write('checked.yaml', flowFile('checked', 'return 1;'));
    const absent = await flow('push', '--check', at('checked.yaml'));
    assert.deepEqual([absent.code, absent.stderr], [1, '']);
    assert.match(absent.stdout, /does not exist/);
    await succeed('push', at('checked.yaml'));
    await succeed('push', '--check', at('checked.yaml'));
    await write('checked.yaml', flowFile('checked', 'return 2;'));
    const differs = await flow('push', '--check', '--json', at('checked.yaml'));
    assert.equal(differs.code, 1);
    assert.equal(JSON.parse(differs.stdout)[0].differs, true);
    assert.match(await succeed('pull', flowOf('checked'), '-'), /return 1;/);
  });

  it('pushes an unfinished draft and names by line what is missing; lists the problems of all wrong files', async () => {
    await write('todo.yaml', 'name: T\nslug: todo\nsteps:\n  - processor_type: llm\n    prompt: x\n');
    for (const args of [[], ['--check']])
      assert.match(
        await succeed('push', ...args, at('todo.yaml')),
        /line 4: steps\[0\]\.model: A model block needs a model/,
      );
    await write('wrong.yaml', 'name: W\nslug: wrong\nsteps:\n  - promt: x\n    processor_type: code\n');
    await write('wrong.tests.yaml', '- name: x\n  mesage: y\n');
    await write('other.yaml', flowFile('todo'));
    const why = await refused('push', at('wrong.yaml'), at('todo.yaml'), at('other.yaml'));
    assert.match(why, /wrong\.yaml:\nline 4: steps\[0\]\.promt: This field is not allowed here/);
    assert.match(why, /other\.yaml:\nIt has the slug of .*todo\.yaml/);
    await write('wrong.yaml', flowFile('wrong'));
    assert.match(await refused('push', at('wrong.yaml')), /wrong\.tests\.yaml: line 1: \[0\]\.message: /);
  });

  it('lists all problems of a wrong file at once: of its shape, its schemas, its code, and what is missing', async () => {
    await write(
      'many.yaml',
      `name: Many
slug: many
steps:
  - processor_type: llm
    prompt: "{{mesage}}"
    outputSchema: { type: strng }
  - processor_type: code
    prompt: retrn 1;
  - promt: x
    processor_type: code
`,
    );
    const lines = (await refused('push', at('many.yaml'))).match(/^line .*?: [^ ]*: /gm);
    assert.deepEqual(lines, [
      'line 4: steps[0].model: ',
      'line 5: steps[0].prompt: ',
      'line 6: steps[0].outputSchema: ',
      'line 8: steps[1].prompt: ',
      'line 9: steps[2].promt: ',
    ]);
    await write('schema.yaml', `${flowFile('with-schema', 'return 1;')}    outputSchema: { type: strng }\n`);
    assert.match(
      await refused('push', at('schema.yaml')),
      /schema\.yaml:\nline \d+: steps\[0\]\.outputSchema: /,
    );
  });

  it('takes a folder, and needs a project', async () => {
    await mkdir(at('repository/flows/deep'), { recursive: true });
    await write('repository/flows/a.yaml', flowFile('in-folder'));
    await write('repository/flows/deep/b.json', JSON.stringify({ name: 'B', slug: 'deep', steps: [] }));
    const pushed = await succeedJson('push', at('repository'));
    assert.deepEqual(pushed.map((one: { flow: string }) => one.flow).sort(), [
      flowOf('deep'),
      flowOf('in-folder'),
    ]);
    const { WEIR_PROJECT: _, ...without } = cli.env;
    assert.match(
      await fail(2, weirIn(without, ['flow', 'push', at('repository')])),
      /Give --project, or set WEIR_PROJECT/,
    );
  });

  it('passes over links and pipes in a folder, and says how many files are too many', async () => {
    await mkdir(at('odd/many'), { recursive: true });
    await write('odd/plain.yaml', flowFile('plain'));
    await symlink('.', at('odd/around'));
    await symlink('plain.yaml', at('odd/link.yaml'));
    execFileSync('mkfifo', [at('odd/pipe.yaml')]);
    const [first, ...others] = await succeedJson('push', at('odd'));
    assert.deepEqual([first.file, others], [at('odd/plain.yaml'), []]);
    execFileSync('mkfifo', [at('odd/plain.tests.yaml')]);
    assert.match(await refused('push', at('odd')), /plain\.tests\.yaml is not a file/);
    for (let count = 0; count <= 1_000; count++) await writeFile(at(`odd/many/${count}.yaml`), '');
    assert.match(await fail(2, flow('push', at('odd'))), /has over 1000 flow files/);
  });
});
