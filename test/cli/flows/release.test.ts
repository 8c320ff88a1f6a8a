// `weir flow publish`, `promote` and `diff`, and what manages flows.
import assert from 'node:assert/strict';
import { fail } from '../cli-harness.ts';
import { block, flowFile, useFlowCli } from './flow-cli.ts';

describe('weir flow', () => {
  const { cli, at, write, flow, succeed, succeedJson, refused, editElsewhere } = useFlowCli();
  const flowOf = (slug: string) => `${cli.project}/${slug}`;

  it('publishes what the files say, once, promotes it, and rolls back', async () => {
    const file = at('hello.yaml');
    await write('hello.yaml', flowFile('hello', 'return 1;'));
    assert.match(
      await refused('publish', file, '--note', 'x'),
      /does not exist: create it with weir flow push/,
    );
    await succeed('push', file);
    assert.match(await succeed('publish', file, '--note', 'first'), /^Published version 1 of/);
    assert.match(await succeed('publish', file, '--note', 'again'), /is published as version 1\./);
    assert.match(await succeed('promote', file), /^Version 1 of .* is now in production\.$/m);
    await write('hello.yaml', flowFile('hello', 'return 2;'));
    await succeed('push', file);
    assert.match(await refused('promote', file), /version 1 of .* is not what .*hello\.yaml says/);
    await succeed('publish', file, '--note', 'second');
    assert.deepEqual(await succeedJson('promote', file), [
      { flow: flowOf('hello'), version: 2, previousVersion: 1 },
    ]);
    await succeed('promote', flowOf('hello'), '--version', '1');
    assert.match(await succeed('versions', flowOf('hello')), /2 .*second\n +1 .*yes +first/);
    assert.match(await succeed('list', cli.project), /hello +Flow hello +published +2 +1 /);
  });

  it('pushes, publishes and promotes at once with --production', async () => {
    await write('at-once.yaml', flowFile('at-once', 'return 1;'));
    const [flow] = await succeedJson('push', at('at-once.yaml'), '--production', '--note', 'first');
    assert.deepEqual([flow.created, flow.version, flow.previousVersion], [true, 1, null]);
    assert.match(await succeed('versions', flowOf('at-once')), /1 .*yes +first/);
  });

  it('publishes no draft that is not what its file says', async () => {
    await write('drift.yaml', flowFile('drift', 'return 1;'));
    await succeed('push', at('drift.yaml'));
    await editElsewhere('drift', [block('assistant')]);
    assert.match(await refused('publish', at('drift.yaml'), '--note', 'x'), /^ {2}- assistant: /m);
    assert.deepEqual(await succeedJson('versions', flowOf('drift')), []);
  });

  it('says what keeps a draft from being published', async () => {
    await write('todo.yaml', 'name: T\nslug: todo\nsteps:\n  - processor_type: llm\n    prompt: x\n');
    const ofFile = /\/todo is not finished \(.*todo\.yaml\), .*:\nline 4: steps\[0\]\.model: /;
    assert.match(await refused('push', at('todo.yaml'), '--production'), ofFile);
    assert.match(await refused('versions', flowOf('todo')), /The flow \S+ does not exist/);
    await succeed('push', at('todo.yaml'));
    assert.match(await refused('publish', at('todo.yaml'), '--note', 'x'), ofFile);
    const ofPath = /\/todo is not finished, .*:\n[\s\S]*^steps\[0\]\.model \(llm\): /m;
    assert.match(await refused('publish', flowOf('todo'), '--note', 'x'), ofPath);
  });

  it('leaves it to the service which models there are', async () => {
    const text = (slug: string, model: string) =>
      `name: M\nslug: ${slug}\nsteps:\n  - step_id: ask\n    processor_type: llm\n    model: ${model}\n    prompt: x\n`;
    await write('own.yaml', text('own', 'nobody/model'));
    const checked = await succeed('check', at('own.yaml'));
    assert.match(checked, /own\.yaml can be published\.\n {2}note: .*"nobody\/model" is not a known model/);
    for (const args of [[], [], ['--check']]) {
      const pushed = await succeed('push', ...args, at('own.yaml'));
      assert.match(pushed, /to do before it can be published: steps\[0\]\.model: "nobody\/model" is not/);
      assert.doesNotMatch(pushed, /The service decides/);
    }
    const unknown = /\/own is not finished \(.*own\.yaml\), .*:\n[\s\S]*"nobody\/model" is not a known model/;
    assert.match(await refused('push', at('own.yaml'), '--production'), unknown);
  });

  it('compares a file with its draft, and any two versions, line by line where texts have lines', async () => {
    const lines = (...middle: string[]) =>
      `|\n${['let a;', ...middle, 'return a;'].map((line) => `      ${line}\n`).join('')}`;
    await write('diff.yaml', flowFile('diff', lines('a = 1;')));
    await succeed('push', at('diff.yaml'));
    await succeed('publish', flowOf('diff'), '--note', 'one');
    await write('diff.yaml', flowFile('diff', lines('a = 2;', 'a = 3;')));
    const expected = ['  step-0.prompt:', '    - a = 1;', '    + a = 2;', '    + a = 3;', ''];
    const file = await succeed('diff', at('diff.yaml'));
    assert.deepEqual(file.split('\n').slice(1), expected);
    await succeed('push', at('diff.yaml'));
    assert.match(await succeed('diff', at('diff.yaml')), /no difference/);
    const versions = await succeed('diff', flowOf('diff'), '--from', '1');
    assert.deepEqual(versions.split('\n').slice(1), expected);
    assert.match(await fail(2, flow('diff', flowOf('diff'))), /no production version/);
  });

  it('creates, renames and deletes a flow', async () => {
    await succeed('create', flowOf('made'), '--name', 'Made');
    assert.match(await succeed('rename', flowOf('made'), '--name', 'Remade'), /"Remade"/);
    assert.match(
      await fail(2, flow('delete', flowOf('made'), '--confirm', 'other')),
      /--confirm must be made/,
    );
    assert.match(await refused('delete', flowOf('made'), '--confirm', 'made'), /admin/);
    assert.match(await refused('versions', flowOf('nothing')), /The flow \S+nothing does not exist/);
  });
});
