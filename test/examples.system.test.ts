import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { provideDemoData } from '../dev/database/demo-data.ts';
import { startDemoModelServer } from '../dev/demo-model/server.ts';
import { createOperator } from './cli/operator-cli.ts';
import { type FaultyProxy, startFaultyProxy } from './fakes/faulty-proxy.ts';
import { startWeir, type Weir } from './harness.ts';
import { itWith } from './where-available.ts';

const ROOT = path.join(import.meta.dirname, '..');
const FLOWS = readdirSync(path.join(ROOT, 'examples')).filter((name) => name.endsWith('.yaml'));

const LANGUAGES = [
  { name: 'curl', command: 'bash', extension: 'sh', needs: ['bash', 'curl'] },
  { name: 'typescript', command: process.execPath, extension: 'ts', needs: [] },
  { name: 'python', command: 'python3', extension: 'py', needs: ['python3'] },
];

/** Each program of a page about calls prints this. */
const RESULTS = new Map([
  ['attachments', /with 1 image/],
  ['retry-and-fork', /isReplayed: true|stoppedBy/],
  ['run-and-wait', /rivers meet weirs/],
  ['start-and-poll', /rivers meet weirs/],
  ['step-by-step', /rivers meet weirs/],
  ['tool-calls', /celsius/],
  ['webhooks', /^$/],
]);
/** Programs that wait for webhooks: test/examples/verify.system.test.ts tries them. */
const RECEIVER = /verify/;
const DELIVERY = { TIMESTAMP: '1769860800', BODY: '{}', SECRET: 'whsec_x' };

/** Defines npx in a shell: the checkout's own commands. */
const NPX =
  'npx() { program=$1; shift; if [ "$program" = node ]; then "$NODE" "$@"; else "$NODE" cli/weir.js "$@"; fi; }';

const RESULT = {
  topics: 2,
  sentences: ['rivers meet weirs', 'dams meet weirs'],
  summary: 'Demo answer to: Sum up what was said about: rivers, dams',
};
const CALLS = [
  'The model calls get_weather({"city":"Lagos"}).',
  'The model calls get_events({"city":"Lagos"}).',
  'The model calls get_weather({"city":"Lagos"}).',
];

describe('examples', () => {
  let models: Awaited<ReturnType<typeof startDemoModelServer>>;
  let weir: Weir;
  let key: string;
  before(async () => {
    models = await startDemoModelServer();
    const away = ['www.wikipedia.org', 'hooks.example.com'];
    const dialMap = JSON.stringify(Object.fromEntries(away.map((host) => [host, '127.0.0.1:1'])));
    weir = await startWeir({ env: { DEMO_BASE_URL: models.url, WEIR_TEST_DIAL_MAP: dialMap } });
    key = await provideDemoData(weir.db, weir.config.apiKeyPepper, undefined);
    const files = FLOWS.map((name) => path.join(ROOT, 'examples', name));
    const { succeed } = await createOperator(weir);
    await succeed('flow', 'push', ...files, '--project', 'demo/demo', '--production', '--force');
  });
  after(async () => {
    await weir.stop();
    await models.close();
  });

  type Ended = { code: number | null; stdout: string; stderr: string };
  async function run(command: string, args: string[], env: { [name: string]: string } = {}): Promise<Ended> {
    const child = spawn(command, args, {
      cwd: ROOT,
      env: { PATH: process.env.PATH, WEIR_URL: weir.url, WEIR_API_KEY: key, NODE: process.execPath, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const code = new Promise<number | null>((resolve) => child.on('close', resolve));
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return { code: await code, stdout, stderr };
  }

  /** Both outputs of a client that must succeed. */
  async function succeed(
    command: string,
    args: string[],
    env: { [name: string]: string } = {},
  ): Promise<string> {
    const { code, stdout, stderr } = await run(command, args, env);
    assert.equal(code, 0, stderr + stdout.slice(-1_000));
    return stderr + stdout;
  }

  /** The JSON that a client's output ends with. */
  const resultIn = (output: string) =>
    JSON.parse(output.slice(output.search(/^(Result: )?\{/m)).replace(/^Result: /, ''));

  const countRuns = async () => {
    const runs = await weir.call('GET', 'demo/demo/hello/runs?limit=200', { key });
    return runs.body.runs.length;
  };

  for (const { name, command, extension, needs } of LANGUAGES)
    describe(`clients/${name}`, () => {
      const all = name === 'curl' ? [...needs, 'jq'] : needs;
      const client = (example: string) => path.join('examples/clients', name, `${example}.${extension}`);

      itWith(needs, 'execute prints the result', async () => {
        const output = await succeed(command, [client('execute'), 'rivers, dams']);
        const answer = JSON.parse(output);
        assert.deepEqual(name === 'curl' ? answer.result : answer, RESULT);
      });

      itWith(all, 'jobs prints the events and the result', async () => {
        const output = await succeed(command, [client('jobs'), 'rivers, dams']);
        const events: string[] = output.match(/^(block|run)_completed \S+/gm) ?? [];
        const blocks = ['topics', 'sentence#0', 'sentence#1', 'answer'];
        for (const block of blocks) assert.ok(events.includes(`block_completed ${block}`), output);
        assert.match(events.at(-1) ?? '', /^run_completed /);
        assert.deepEqual(resultIn(output), RESULT);
      });

      itWith(all, 'step prints each output, and the result of what was changed on the way', async () => {
        const output = await succeed(command, [client('step'), 'rivers, dams']);
        const steps = output.match(/^([\w-]+: |Step \d is next)/gm);
        assert.deepEqual(steps?.slice(0, 6), [
          'topics: ',
          'Step 1 is next',
          'each-topic: ',
          'Step 2 is next',
          'views: ',
          'answer: ',
        ]);
        assert.deepEqual(resultIn(output), { ...RESULT, topics: 1, sentences: ['lakes meet weirs'] });
      });

      itWith(all, 'tools answers the model’s calls at every pause', async () => {
        const output = await succeed(command, [client('tools'), 'Somewhere warm']);
        assert.deepEqual(output.match(/^The model calls .*$/gm), CALLS);
        const { takeAlong } = resultIn(output);
        assert.deepEqual(JSON.parse(takeAlong.replace('Demo answer from tool results: ', '')), {
          city: 'Lagos',
          celsius: 29,
        });
      });

      describe('through a faulty proxy', () => {
        let proxy: FaultyProxy;
        beforeEach(async () => {
          proxy = await startFaultyProxy(weir.url);
        });
        afterEach(() => proxy.close());

        itWith(
          needs,
          'a request that met 429 and a lost answer is repeated under its Idempotency-Key, as one run',
          async () => {
            const before = await countRuns();
            await succeed(command, [client('execute')], { WEIR_URL: proxy.url });
            assert.equal(proxy.idempotencyKeys.length, 3);
            assert.equal(new Set(proxy.idempotencyKeys).size, 1);
            assert.equal((await countRuns()) - before, 1);
          },
        );

        itWith(
          needs,
          'a request that is refused is not repeated, and ends with what the service says',
          async () => {
            const env = { WEIR_URL: proxy.url, WEIR_API_KEY: 'weir_test_unknown' };
            const { code, stdout, stderr } = await run(command, [client('execute')], env);
            assert.notEqual(code, 0);
            assert.match(stdout + stderr, /UNAUTHENTICATED/);
            assert.equal(proxy.idempotencyKeys.length, 3);
          },
        );

        for (const example of name === 'curl' ? ['jobs'] : ['jobs', 'step'])
          itWith(all, `${example} takes a stream up where it broke off`, async () => {
            const output = await succeed(command, [client(example)], { WEIR_URL: proxy.url });
            assert.equal(output.match(/^(block_completed )?topics/gm)?.length, 1, output);
            assert.equal(proxy.lastEventIds.filter((id) => id !== '0').length, 1);
          });
      });
    });

  it('clients/openai-tool-runner.ts drives a flow through its pauses', async () => {
    const output = await succeed(process.execPath, [
      'examples/clients/openai-tool-runner.ts',
      'Somewhere warm',
    ]);
    assert.deepEqual(output.match(/^The model calls .*$/gm), CALLS);
    assert.match(
      resultIn(output).takeAlong,
      /^Demo answer from tool results: \{"city":"Lagos","celsius":29\}$/,
    );
  });

  itWith(['python3'], 'the flow, the programs and the test of docs/quick-start.md work', async () => {
    const page = readFileSync(path.join(ROOT, 'docs/quick-start.md'), 'utf8');
    const codes = [...page.matchAll(/```(?:yaml|ts|py)\n([\s\S]*?)```/g)].map((match) => match[1] ?? '');
    const folder = await mkdtemp(path.join(tmpdir(), 'weir-quick-start-'));
    const [flow, ts, py, tests] = ['triage.yaml', 'triage.ts', 'triage.py', 'triage.tests.yaml'].map((name) =>
      path.join(folder, name),
    ) as [string, string, string, string];
    for (const [index, file] of [flow, ts, py, tests].entries()) await writeFile(file, codes[index] ?? '');
    try {
      const operator = await createOperator(weir);
      await operator.succeed('flow', 'push', flow, '--project', 'demo/demo', '--production');
      assert.match(await succeed(process.execPath, [ts]), /queue: 'billing-now', words: 5/);
      assert.match(await succeed('python3', [py]), /'queue': 'billing-now', 'words': 5/);
      assert.match(
        await operator.succeed('test', flow, '--project', 'demo/demo'),
        /1 of 1 test cases passed/,
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  for (const page of [...RESULTS.keys()])
    itWith(
      ['bash', 'curl', 'jq', 'python3'],
      `the commands and programs of docs/${page}.md work`,
      async () => {
        const text = readFileSync(path.join(ROOT, `docs/${page}.md`), 'utf8');
        const codes = (language: string) =>
          [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
            ([, code]) => code ?? '',
          );
        const folder = await mkdtemp(path.join(tmpdir(), 'weir-page-'));
        try {
          // One shell for all, as a reader has it; an answer that is an error ends it.
          const curl = 'curl() { command curl -s --fail-with-body "$@"; }';
          const said = await succeed('bash', ['-euc', [curl, NPX, ...codes('sh')].join('\n')], DELIVERY);
          assert.doesNotMatch(said, /^event: run_failed/m);
          for (const [language, command] of Object.entries({ ts: process.execPath, py: 'python3' }))
            for (const code of codes(language).filter((code) => !RECEIVER.test(code))) {
              const file = path.join(folder, `program.${language}`);
              await writeFile(file, code);
              assert.match(await succeed(command, [file]), RESULTS.get(page) as RegExp);
            }
        } finally {
          await rm(folder, { recursive: true });
        }
      },
    );

  const OUTPUTS: { [name: string]: RegExp } = {
    'code.yaml': /"net": 10,\s+"tax": 2/,
    'image.yaml': /"Demo answer to \(with 1 image\): What is in the picture\?"/,
    'llm-chain.yaml': /Demo answer to: Draft a short, friendly reply/,
    'loop-over-items.yaml': /Translate into French: good morning\\n.*good night"/,
    'loop-until.yaml': /:\n5\n/,
    'parallel.yaml': /\(7 words\)/,
    'tools.yaml': /"takeAlong"/,
  };
  for (const name of FLOWS) {
    const lines = readFileSync(path.join(ROOT, 'examples', name), 'utf8').split('\n');
    const commands = lines.filter((line) => line.startsWith('#   ')).map((line) => line.slice(4));
    const needs = commands[0]?.startsWith('curl') ? ['curl'] : [];
    itWith(needs, `${name} does what the command in its first lines says`, async () => {
      const script = [NPX, ...commands].join('\n').replace('WEIR_API_KEY=weir_… ', '');
      const output = await succeed('sh', ['-c', script]);
      assert.match(output, OUTPUTS[name] ?? /^$/);
    });
  }
});
