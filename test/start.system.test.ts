// The README's command, as a person with nothing configured runs it.
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { type ProcessRecord, processStartTime } from '../dev/processes/end-process.ts';
import { waitUntil } from './wait-until.ts';
import { itWith } from './where-available.ts';

const root = path.dirname(import.meta.dirname);
const run = promisify(execFile);
/** Prefixes of variables that are removed: this test is about a machine without configuration. */
const CONFIGURATION =
  /^(DATABASE_URL|TEMPORAL_|WEIR_(?!TEMPORAL_CLI)|OPENAI_|ANTHROPIC_|GOOGLE_|OPENROUTER_|OLLAMA_|DEMO_)/;

describe('npm start', function () {
  this.timeout(900_000);
  const stateFolder = mkdtempSync(path.join(tmpdir(), 'weir-start-'));
  let npm: ChildProcess;
  let output = '';

  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !CONFIGURATION.test(name)));

  function launch(): ChildProcess {
    return spawn('npm', ['start'], {
      cwd: root,
      env: { ...env, WEIR_STATE_DIR: stateFolder },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  /** Resolves when it has printed its last line; rejects when it ends before. */
  async function start(): Promise<void> {
    output = '';
    npm = launch();
    const ended = once(npm, 'close').then(() => assert.fail(`npm start ended:\n${output}`));
    const ready = new Promise<void>((resolve) => {
      for (const stream of [npm.stdout, npm.stderr]) {
        stream?.setEncoding('utf8').on('data', (text: string) => {
          output += text;
          if (output.includes('Ctrl-C stops everything')) resolve();
        });
      }
    });
    ended.catch(() => undefined);
    await Promise.race([ready, ended]);
  }

  const printed = (label: string) => output.match(RegExp(`^  ${label} +(\\S+)$`, 'm'))?.[1] ?? '';
  const supervisor = () => Number(JSON.parse(readFileSync(path.join(stateFolder, 'start.json'), 'utf8')).pid);
  const records = (): ProcessRecord[] => {
    const folder = path.join(stateFolder, 'run');
    return readdirSync(folder).map((file) => JSON.parse(readFileSync(path.join(folder, file), 'utf8')));
  };
  const runDemo = async () => {
    const answer = await fetch(`${printed('API')}/api/v1/seq/demo/demo/hello/execute`, {
      method: 'POST',
      headers: { authorization: `Bearer ${printed('Demo API key')}`, 'content-type': 'application/json' },
      body: '{"message":"rivers"}',
    });
    return (await answer.json()) as { status: string };
  };

  after(async () => {
    npm.kill('SIGTERM');
    if (npm.exitCode === null && npm.signalCode === null) await once(npm, 'close');
    const elsewhere = path.join(stateFolder, 'postgres-folder');
    if (existsSync(elsewhere)) rmSync(readFileSync(elsewhere, 'utf8').trim(), { recursive: true });
    rmSync(stateFolder, { recursive: true });
  });

  it('leaves a running service, and prints its address and the answer of the demo flow', async () => {
    await start();
    const reference = await fetch(printed('API reference'));
    assert.equal(reference.status, 200);
    assert.equal((await fetch(printed('Temporal UI'))).status, 200);
    // On a busy machine, a part may seem away.
    await waitUntil(async () => (await fetch(`${printed('API')}/readyz`)).status === 200);
    assert.match(printed('Console'), /^http:\/\/127\.0\.0\.1:\d+\/console\/#one-time=[\w-]{43}$/);
    const page = await fetch(printed('Console'));
    assert.deepEqual([page.status, page.headers.get('x-frame-options')], [200, 'DENY']);
    assert.match(printed('Demo API key'), /^weir_test_/);
    assert.match(output, /"status": "completed"/);
    assert.match(output, /^ {2}✔ Console +\S+ s {2}(built|up to date)$/m);
    // Progress is repeated every few seconds, more often on a slow machine; notes tell of other programs there.
    const lines = output.split('\n').filter((line) => !/^ {2}[…!] |^npm warn/.test(line));
    assert.ok(lines.length < 60, output);
  });

  it('signs users in: prints the accounts it made, and weir token gets a token that the API takes', async () => {
    assert.match(output, /^ {2}owner@weir\.local +\S{16}$/m);
    const weir = path.join(root, 'cli/weir.js');
    const command = [weir, 'token'];
    const { stdout } = await run(process.execPath, command, { env: { ...env, WEIR_STATE_DIR: stateFolder } });
    const headers = { authorization: `Bearer ${stdout.trim()}` };
    const answer = await fetch(`${printed('API')}/api/v1/organizations`, { headers });
    const { organizations } = (await answer.json()) as { organizations: { slug: string; role: string }[] };
    assert.deepEqual(
      organizations.map(({ slug, role }) => [slug, role]),
      [['demo', 'owner']],
    );
  });

  itWith(['bash', 'curl'], 'prints a curl line that runs the demo flow as it stands', async () => {
    const line = output.match(/^curl .*$/m)?.[0] ?? '';
    const answer = JSON.parse((await run('bash', ['-c', line])).stdout);
    assert.equal(answer.status, 'completed');
    assert.equal(answer.result.topics, 3);
    assert.equal(answer.result.sentences.length, 3);
  });

  it('takes listeners of webhooks', async () => {
    const headers = { authorization: `Bearer ${printed('Demo API key')}` };
    const listening = await fetch(`${printed('API')}/api/v1/webhooks/listen`, { headers });
    assert.equal(listening.status, 200);
    await listening.body?.cancel();
  });

  it('says that it is already running when started a second time', async () => {
    const second = launch();
    let said = '';
    second.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const [code] = await once(second, 'close');
    assert.equal(code, 1);
    assert.ok(said.includes(`process ${supervisor()}, ${printed('API')}`), said);
  });

  it('brings the service back after kill -9', async () => {
    const service = records().find(({ name }) => name === 'service');
    assert.ok(service);
    const back = new Promise<void>((resolve) => {
      npm.stdout?.on('data', () => output.includes('The service is back') && resolve());
    });
    process.kill(service.pid, 'SIGKILL');
    await back;
    assert.equal((await runDemo()).status, 'completed');
  });

  it('ends all its processes on Ctrl-C', async () => {
    const processes = records();
    assert.deepEqual(processes.map(({ name }) => name).sort(), ['postgres', 'service', 'temporal']);
    process.kill(supervisor(), 'SIGINT');
    const [code] = await once(npm, 'close');
    assert.equal(code, 0, output);
    const left = processes.filter(({ pid, startTime }) => processStartTime(pid) === startTime);
    assert.deepEqual(left, []);
  });

  it('keeps its state: the same accounts, key and addresses at the next start, and after kill -9 of the supervisor', async () => {
    const before = await restart(() => Promise.resolve());
    const after = await restart(async () => {
      const ended = once(npm, 'close');
      process.kill(supervisor(), 'SIGKILL');
      await ended;
    });
    assert.deepEqual(after, before);
  });

  async function restart(stop: () => Promise<void>) {
    await stop();
    await start();
    assert.doesNotMatch(output, /^ {2}owner@weir\.local/m);
    assert.equal((await runDemo()).status, 'completed');
    return { key: printed('Demo API key'), ui: printed('Temporal UI'), api: printed('API') };
  }
});
