import assert from 'node:assert/strict';
import { weirIn } from '../cli-harness.ts';
import { flowFile, useFlowCli } from './flow-cli.ts';

describe('weir flow check', () => {
  const { at, write, succeed, http } = useFlowCli();
  /** Checks without a service, a credential or a state folder. */
  const check = (...args: string[]) => weirIn({ WEIR_STATE_DIR: '/nonexistent' }, ['flow', 'check', ...args]);

  const UNFINISHED = `name: Todo
slug: todo
steps:
  - step_id: ask
    processor_type: llm
    prompt: Answer {{message}}
  - step_id: shout
    processor_type: code
    prompt: 'return ('
  - step_id: refer
    processor_type: passthrough
    prompt: '{{blocks.nowhere}}'
`;

  it('says without a service what the service says of the draft, with the lines of the file', async () => {
    await write('todo.yaml', UNFINISHED);
    const { code, stdout, stderr } = await check('--json', at('todo.yaml'));
    assert.deepEqual([code, stderr], [1, '']);
    const [{ file, flow, problems }] = JSON.parse(stdout);
    assert.deepEqual([file, flow], [at('todo.yaml'), 'todo']);
    await succeed('push', at('todo.yaml'));
    const { body } = await http('GET', '');
    const { id } = body.flows.find((one: { slug: string }) => one.slug === 'todo');
    const { problems: ofService } = (await http('GET', `/${id}/draft`)).body;
    const placed = (list: { path: string; message: string }[]) =>
      list.map(({ path, message }) => [path, message]).sort();
    assert.ok(ofService.length >= 2, JSON.stringify(ofService));
    assert.deepEqual(placed(problems), placed(ofService));
    assert.ok(problems.every(({ line }: { line: number }) => line > 1));
    const { stdout: text } = await check(at('todo.yaml'));
    assert.match(
      text,
      /todo\.yaml can be pushed, but neither published nor tested:\n {2}line \d+: steps\[0\]\.model: /,
    );
  });

  it('says which files cannot be pushed, beside the others, and exits with 0 when all can be published', async () => {
    await write('good.yaml', flowFile('good', 'return input;'));
    await write(
      'schema.json',
      JSON.stringify({
        name: 'S',
        slug: 'schema',
        steps: [{ step_id: 'a', processor_type: 'passthrough', inputSchema: { type: 'nonsense' } }],
      }),
    );
    await write('twin.yaml', flowFile('good', 'return 1;'));
    const good = await check(at('good.yaml'));
    assert.deepEqual([good.code, good.stdout], [0, `${at('good.yaml')} can be published.\n`]);
    const all = await check(at('good.yaml'), at('schema.json'), at('twin.yaml'));
    assert.equal(all.code, 1);
    assert.match(all.stdout, /good\.yaml can be published\.\n/);
    assert.match(all.stdout, /schema\.json cannot be pushed:\n {2}line 1: steps\[0\]\.inputSchema/);
    assert.match(
      all.stdout,
      /twin\.yaml cannot be pushed:\n {2}slug: It has the slug of .*good\.yaml: good\.\n/,
    );
  });
});

describe('weir run --draft', () => {
  const { cli, at, write, succeed } = useFlowCli();
  const run = (...args: string[]) => weirIn(cli.env, ['run', ...args, '--message', 'hi', '--follow']);

  it('runs the draft of a flow, and that of a flow file which equals it', async () => {
    await write('drafted.yaml', flowFile('drafted', 'return input + "!";'));
    await succeed('push', at('drafted.yaml'));
    for (const name of [`${cli.project}/drafted`, at('drafted.yaml')]) {
      const { code, stdout, stderr } = await run(name, '--draft');
      assert.equal(code, 0, stderr);
      assert.match(stdout, /\n"hi!"\n$/);
    }
    await write('drafted.yaml', flowFile('drafted', 'return 2;'));
    const { code, stderr } = await run(at('drafted.yaml'), '--draft');
    assert.equal(code, 1);
    assert.match(stderr, /is not as \S+drafted\.yaml says, so nothing was run\. Push the file first/);
    assert.equal((await run(`${cli.project}/drafted`, '--draft', '--version', '1')).code, 2);
  });
});
