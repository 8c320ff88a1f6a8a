// `weir test`.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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

  it('tests the version in production, a published version or the draft, and compares test runs', async () => {
    await write('count.yaml', flowFile('count', 'return input.length;'));
    await write(
      'count.tests.yaml',
      '- { name: counts, message: hi, expectation: { type: equals, value: 2 } }\n' +
        '- { name: echoes, message: hi, expectation: { type: equals, value: hi } }\n',
    );
    const flow = `${cli.project}/count`;
    await succeed('push', at('count.yaml'));
    assert.match(await fail(1, test(flow, '--version', 'production')), /has none in production/);
    await succeed('publish', at('count.yaml'), '--note', 'one');
    await succeed('promote', at('count.yaml'));
    await write('count.yaml', flowFile('count', 'return input;'));
    await succeed('push', at('count.yaml'));
    for (const version of ['production', '1'])
      assert.match((await test(flow, '--version', version)).stdout, /counts +passed [\s\S]*echoes +failed/);
    assert.match(await fail(1, test(flow, '--version', '7')), /there is no version 7/);
    assert.match((await test(flow)).stdout, /counts +failed [\s\S]*echoes +passed/);
    const runs = (...args: string[]) => weirIn(cli.env, ['test-runs', ...args]);
    const listed = JSON.parse((await runs('list', flow, '--json')).stdout);
    assert.deepEqual(
      listed.map(({ version }: { version: number }) => version),
      [0, 1, 1],
    );
    const { stdout } = await runs('compare', flow);
    assert.match(stdout, /counts +passed +failed +changed/);
    assert.match(stdout, /v1: 1 of 2 passed → draft: 1 of 2 passed; 2 changed\./);
    const same = await runs('compare', flow, listed[2].test_run_id, listed[1].test_run_id);
    assert.match(same.stdout, /counts +passed +passed {3}[\s\S]*; 0 changed\./);
  });

  it('keeps the tools of test cases in files', async () => {
    const cases =
      '- name: asks\n  message: hi\n  tools:\n    - type: function\n      function: { name: find }\n' +
      '  tool_results:\n    - { name: find, result: { found: [1] } }\n  expectation: { type: contains, text: x }\n';
    await write('find.yaml', flowFile('find', 'return input;'));
    await write('find.tests.yaml', cases);
    await succeed('push', at('find.yaml'));
    assert.match(await succeed('push', at('find.yaml')), /unchanged|no change|is up to date/i);
    await succeed('pull', `${cli.project}/find`, at('pulled.yaml'));
    assert.match(await read('pulled.tests.yaml'), /tool_results:\n {4}- name: find\n/);
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
      /\/todo is not finished, .*:\nsteps\[0\]\.model \(llm\): /,
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

describe('weir test, of several flows', () => {
  /** A service where the test run of flow a ends only once that of flow b was started. */
  async function startService() {
    let hasBegun = false;
    const named = { id: 'i', slug: 'o', name: 'O' };
    const server = createServer((request, response) => {
      const url = request.url ?? '';
      const slug = /flows\/(\w)\/test-runs/.exec(url)?.[1];
      if (request.method === 'POST' && slug === 'b') hasBegun = true;
      const isEnded = hasBegun && request.method === 'GET';
      const results = [{ name: `case of ${slug}`, status: 'passed', why: null, ms: 1, cost: 0 }];
      const body = slug
        ? {
            test_run_id: slug,
            status: isEnded ? 'completed' : 'started',
            total: 1,
            passed: 1,
            cost: 0,
            results,
          }
        : url === '/api/v1/me'
          ? {
              kind: 'api_key',
              keyId: 'k',
              name: 'k',
              environment: 'live',
              organization: named,
              project: named,
            }
          : {
              flows: ['a', 'b'].map((id) => ({ id, projectId: 'i', slug: id })),
              hasMore: false,
              nextCursor: null,
            };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  it('tests them at a time, and shows the results in the order of the arguments', async () => {
    const server = await startService();
    try {
      const env = {
        WEIR_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        WEIR_API_KEY: 'k',
      };
      const { code, stdout } = await weirIn(env, ['test', 'o/o/a', 'o/o/b']);
      assert.equal(code, 0);
      assert.match(
        stdout,
        /\no\/o\/a +case of a +passed .*\no\/o\/b +case of b +passed .*\n2 of 2 test cases passed\.\n$/,
      );
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
});
