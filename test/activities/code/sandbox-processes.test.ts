// The guest processes: killed, replaced, confined, and gone when the service is.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { startGuest } from '../../../activities/code/guest-process.ts';
import { RUNS_MAX } from '../../../activities/code/limits.ts';
import { createSandbox, type Sandbox } from '../../../activities/code/sandbox.ts';
import { SandboxUnavailable } from '../../../activities/code/sandbox-errors.ts';
import { createLargeJson } from '../../../platform/large-values/large-json.ts';
import { waitUntil } from '../../wait-until.ts';
import { copySandbox } from './copy-sandbox.ts';
import { call, guestsOf, isAlive, watchGuests } from './guests.ts';
import { runOnce } from './run-once.ts';

const root = new URL('../../../', import.meta.url);
const linux = process.platform === 'linux';

describe('sandbox processes (on Linux: they are looked at through /proc)', () => {
  let sandbox: Sandbox;
  let guests: () => number[];
  beforeEach(async function () {
    if (!linux) this.skip();
    guests = watchGuests();
    sandbox = createSandbox({ processes: 1, largeJson: createLargeJson() });
    await runOnce(sandbox, call('return 1'));
  });
  afterEach(() => sandbox?.close());

  it('kill -9 during a call rejects it with SandboxUnavailable, and the next call works', async () => {
    const running = runOnce(sandbox, call('for (;;);'));
    await setImmediate();
    for (const pid of guests()) process.kill(pid, 'SIGKILL');
    await assert.rejects(running, SandboxUnavailable);
    assert.equal((await runOnce(sandbox, call('return 2'))).output, 2);
  });

  it('kill -9 of an idle process costs at most one call', async () => {
    for (const pid of guests()) process.kill(pid, 'SIGKILL');
    await runOnce(sandbox, call('return 2')).catch((error) => assert.ok(error instanceof SandboxUnavailable));
    assert.equal((await runOnce(sandbox, call('return 2'))).output, 2);
  });

  it('a timeout replaces the process', async () => {
    const [pid = 0] = guests();
    await assert.rejects(runOnce(sandbox, call('for (;;);', 50)), { code: 'CODE_TIMEOUT' });
    await runOnce(sandbox, call('return 1'));
    assert.ok(!guests().includes(pid));
  });

  for (const [what, source, code] of [
    ['a failure of the code', 'foo()', 'CODE_ERROR'],
    ['a result that is too large', 'return "x".repeat(9e6)', 'OUTPUT_TOO_LARGE'],
  ] as const)
    it(`${what} does not replace the process`, async () => {
      const before = guests();
      await assert.rejects(runOnce(sandbox, call(source)), { code });
      await runOnce(sandbox, call('return 1'));
      assert.deepEqual(guests(), before);
    });

  it(`a process is replaced after ${RUNS_MAX} runs without a call noticing`, async () => {
    const [pid = 0] = guests();
    let runs = 1;
    for (; isAlive(pid); runs++) assert.equal((await runOnce(sandbox, call('return 1'))).output, 1);
    assert.ok(runs >= RUNS_MAX, `replaced after ${runs} runs`);
  });

  it('abort ends a running call with its reason', async () => {
    const abort = new AbortController();
    const running = runOnce(sandbox, call('for (;;);'), { signal: abort.signal });
    await setImmediate();
    abort.abort(new Error('cancelled'));
    await assert.rejects(running, /cancelled/);
    assert.equal((await runOnce(sandbox, call('return 2'))).output, 2);
  });

  it('abort ends a waiting call and leaves the running one alone', async () => {
    const abort = new AbortController();
    const running = runOnce(sandbox, call('for (let i = 0; i < 3e6; i++); return 3'));
    const waiting = runOnce(sandbox, call('return 4'), { signal: abort.signal });
    await setImmediate();
    abort.abort(new Error('cancelled'));
    await assert.rejects(waiting, /cancelled/);
    assert.equal((await running).output, 3);
  });

  it('calls beyond the number of processes wait their turn', async () => {
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, n) => runOnce(sandbox, call(`return ${n}`))),
    );
    assert.deepEqual(
      results.map(({ output }) => output),
      Array.from({ length: 20 }, (_, n) => n),
    );
    assert.equal(guests().length, 1);
  });

  it('close ends every process, rejects what runs and what comes later', async () => {
    const running = assert.rejects(runOnce(sandbox, call('for (;;);')), SandboxUnavailable);
    const waiting = assert.rejects(runOnce(sandbox, call('return 1')), SandboxUnavailable);
    await setImmediate();
    await sandbox.close();
    await Promise.all([running, waiting]);
    assert.deepEqual(guests(), []);
    await assert.rejects(runOnce(sandbox, call('return 1')), SandboxUnavailable);
  });

  it('close while the first process starts leaves none', async () => {
    const early = createSandbox({ processes: 1, largeJson: createLargeJson() });
    const others = guests();
    await setImmediate();
    await early.close();
    assert.deepEqual(guests(), others);
  });

  it('a program that cannot start rejects with SandboxUnavailable', async () => {
    const missing = startGuest({ file: '/nonexistent/program', args: [] }, new AbortController().signal);
    await assert.rejects(missing, SandboxUnavailable);
  });

  it('a process stays under 700 MB however much memory the code asks for', async () => {
    const [pid = 0] = guests();
    const fill =
      'const a = []; try { for (;;) a.push(new Uint8Array(1e6).fill(1)) } catch {} return a.length';
    const { output } = await runOnce(sandbox, call(fill));
    assert.ok(Number(output) > 200 && Number(output) < 270, `took ${output} MB`);
    const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    assert.ok(Number(peak) < 700_000, `peak of ${peak} kB`);
  });

  it('says why a program ended before it was ready', async () => {
    const broken = startGuest(
      { file: '/bin/sh', args: ['-c', 'echo no such luck >&2'] },
      new AbortController().signal,
    );
    await assert.rejects(broken, { name: 'SandboxUnavailable', cause: 'no such luck\n' });
  });

  it('an answer to another call than the current one ends the process', async () => {
    const program = `
      const frame = (header) => {
        const head = Buffer.from(JSON.stringify(header));
        const prefix = Buffer.alloc(8);
        prefix.writeUInt32BE(head.length, 0);
        process.stdout.write(Buffer.concat([prefix, head]));
      };
      frame({ call: 0, processorMs: 0 });
      process.stdin.once('data', () => frame({ call: 2, processorMs: 0 }));`;
    const confused = { file: process.execPath, args: ['-e', program, '--'] };
    const guest = await startGuest(confused, new AbortController().signal);
    const answer = guest.call({ source: '', timeoutMs: 60_000, values: Buffer.from('{}') });
    await assert.rejects(answer, { name: 'SandboxCrashed', message: /call 2 during call 1/ });
    await guest.exited;
  });

  it('works without unshare and setpriv, as on macOS', async () => {
    const plain = { file: '/bin/sh', args: ['-c', 'exec env -i "$@"', 'sh'] };
    const guest = await startGuest(plain, new AbortController().signal);
    const values = Buffer.from('{"input":7}');
    const frame = await guest.call({ source: 'return input', timeoutMs: 60_000, values });
    assert.equal(frame.body.toString(), '7');
    guest.kill();
    await guest.exited;
  });

  /** Starts a process that has a sandbox and then does `rest`, of which the last is to print. */
  async function startService(rest: string) {
    const program = `
      import { createSandbox } from './activities/code/sandbox.ts';
      import { createLargeJson } from './platform/large-values/large-json.ts';
      const sandbox = createSandbox({ processes: 1, largeJson: createLargeJson() });
      const run = (source) =>
        sandbox.run('organization', { source, input: 1, message: '', parameters: {}, timeoutMs: 120_000 });
      ${rest}`;
    const service = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], { cwd: root });
    await once(service.stdout, 'data');
    const orphans = guestsOf(service.pid ?? 0);
    assert.equal(orphans.length, 1);
    return { service, orphans };
  }

  it('processes end by themselves when the service is killed', async () => {
    const { service, orphans } = await startService(`await run('return 1'); console.log('ready');`);
    service.kill('SIGKILL');
    await once(service, 'exit');
    await waitUntil(() => !orphans.some(isAlive));
  });

  it('processes end with a service that ends before their code does', async () => {
    const { service, orphans } = await startService(`
      await run('return 1');
      process.once('SIGTERM', () => process.exit());
      run('for (;;);');
      console.log('ready');`);
    service.kill('SIGTERM');
    await once(service, 'exit');
    await waitUntil(() => !orphans.some(isAlive));
  });

  it('an empty environment, no open files of the service, bounded resources', () => {
    const [pid = 0] = guests();
    assert.equal(readFileSync(`/proc/${pid}/environ`, 'utf8'), '');
    assert.match(readFileSync(`/proc/${pid}/cmdline`, 'utf8'), /--max-old-space-size=/);
    const limits = readFileSync(`/proc/${pid}/limits`, 'utf8');
    assert.match(limits, /Max file size +0 +0/);
    assert.match(limits, /Max open files +64 +64/);
    assert.match(limits, /Max cpu time +120 +120/);
  });

  describe('as root', () => {
    beforeEach(function () {
      if (process.getuid?.() !== 0) this.skip();
    });

    it('user code runs as nobody, without capabilities', () => {
      const [pid = 0] = guests();
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      assert.match(status, /^Uid:(\t65534){4}$/m);
      assert.match(status, /^Gid:(\t65534){4}$/m);
      assert.match(status, /^CapEff:\t0+$/m);
    });

    it('user code has no network and can gain no privileges, where the machine allows that', function () {
      const [pid = 0] = guests();
      const own = readlinkSync('/proc/self/ns/net');
      if (readlinkSync(`/proc/${pid}/ns/net`) === own) this.skip();
      assert.match(readFileSync(`/proc/${pid}/status`, 'utf8'), /^NoNewPrivs:\t1$/m);
    });

    it('works from a folder that only root can read', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'weir-'));
      chmodSync(folder, 0o700);
      const closed = await copySandbox(folder);
      assert.equal((await runOnce(closed, call('return 5'))).output, 5);
      await closed.close();
      rmSync(folder, { recursive: true });
    });
  });
});
