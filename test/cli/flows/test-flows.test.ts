// `weir test`.
import assert from 'node:assert/strict';
import { fail, weirIn } from '../cli-harness.ts';
import { flowFile, useFlowCli } from './flow-cli.ts';

describe('weir test', () => {
  const { cli, at, write, read, succeed } = useFlowCli();
  const test = (...args: string[]) => weirIn(cli.env, ['test', ...args]);

  const countTestRuns = async () => (await cli.weir.db.selectFrom('test_run').select('id').execute()).length;

  it('shows the results of drafts, writes JUnit XML, and exits with 1 unless there are any and all pass', async () => {
    const shout = flowFile('shout', 'return input.toUpperCase();');
    const cases = '- { name: "<shouts>", message: hi, expectation: { type: equals, value: HI } }\n';
    await write('shout.yaml', shout);
    await write('shout.tests.yaml', cases);
    await write('bare.yaml', flowFile('bare', 'return 1;'));
    assert.match(await fail(1, test(at('shout.yaml'))), /does not exist/);
    await succeed('push', at('shout.yaml'), at('bare.yaml'));
    const passed = await test(at('shout.yaml'), at('bare.yaml'), '--junit', at('junit.xml'));
    assert.equal(passed.code, 0, passed.stderr);
    assert.match(
      passed.stdout,
      /<shouts> +passed .*\n1 of 1 test cases passed\.\nWithout test cases: .*\/bare\./,
    );
    assert.match(
      await read('junit.xml'),
      /<testcase classname=".*\/shout" name="&#60;shouts&#62;" time=".*"\/>/,
    );
    const none = await test(at('bare.yaml'));
    assert.equal(none.code, 1);
    assert.match(none.stdout, /^Nothing was tested: .*\nWithout test cases: .*\/bare\./);
    await write(
      'shout.tests.yaml',
      `${cases}- { name: fails, message: hi, expectation: { type: contains, text: x } }\n`,
    );
    assert.match(await fail(1, test(at('shout.yaml'))), /nothing was tested.*\n {2}\+ test "fails"/);
    await succeed('push', at('shout.yaml'));
    const before = await countTestRuns();
    assert.match(
      await fail(1, test(at('shout.yaml'), '--junit', at('shout.yaml/junit.xml'))),
      /junit\.xml cannot be written: what should be its folder is a file/,
    );
    assert.equal(await countTestRuns(), before);
    const failed = await test(`${cli.project}/shout`, '--junit', at('results/junit.xml'));
    assert.equal(failed.code, 1);
    assert.match(failed.stdout, /fails +failed .*\n.*1 of 2 test cases passed\./);
    assert.match(
      await read('results/junit.xml'),
      /tests="2" failures="1" errors="0"[\s\S]*<failure message="/,
    );
  });

  it('names the flow, the file and the line of what is missing in a draft, beside the results of others', async () => {
    await write('todo.yaml', 'name: T\nslug: todo\nsteps:\n  - processor_type: llm\n    prompt: x\n');
    await write(
      'todo.tests.yaml',
      '- { name: one, message: hi, expectation: { type: equals, value: HI } }\n',
    );
    await succeed('push', at('todo.yaml'));
    const missing = /\/todo is not finished \(.*todo\.yaml\), .*:\nline 4: steps\[0\]\.model: /;
    assert.match(await fail(1, test(at('todo.yaml'))), missing);
    assert.match(
      await fail(1, test(`${cli.project}/todo`)),
      /\/todo is not finished, .*:\nsteps\[0\]\.model: /,
    );
    await write('done.yaml', flowFile('done', 'return input;'));
    await write(
      'done.tests.yaml',
      '- { name: echoes, message: hi, expectation: { type: equals, value: hi } }\n',
    );
    await succeed('push', at('done.yaml'));
    const both = await test(at('done.yaml'), at('todo.yaml'), '--junit', at('both.xml'));
    assert.equal(both.code, 1);
    assert.match(both.stdout, /\/done +echoes +passed /);
    assert.match(
      both.stdout,
      /\/todo +- +error .* is not finished .*\n1 of 1 test cases passed\.\nNot tested: .*\/todo\.\n$/,
    );
    const junit = await read('both.xml');
    assert.match(junit, /name="echoes" time=".*"\/>/);
    assert.match(junit, /\/todo" name="all test cases"><error message=".* is not finished/);
  });
});
