import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startGuest } from '../../../activities/code/guest-process.ts';
import type { Sandbox } from '../../../activities/code/sandbox.ts';
import { captureLog } from '../../capture-log.ts';
import { copySandbox } from './copy-sandbox.ts';
import { call, watchGuests } from './guests.ts';
import { runOnce } from './run-once.ts';

describe('the program of guest processes (on Linux: they are looked at through /proc)', () => {
  let folder: string;
  let sandbox: Sandbox;
  let guests: () => number[];
  /** Checks that there are guests, and that each runs this file. */
  const assertGuestsRun = (file: string) => {
    const commands = guests().map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
    assert.notEqual(commands.length, 0);
    for (const line of commands) assert(line.includes(file), line);
  };
  beforeEach(function () {
    if (process.platform !== 'linux') this.skip();
    guests = watchGuests();
    folder = mkdtempSync(join(tmpdir(), 'weir-'));
  });
  afterEach(async () => {
    await sandbox?.close();
    rmSync(folder, { recursive: true });
  });

  it('is a copy without types, which the first start makes', async () => {
    sandbox = await copySandbox(folder);
    assert.equal((await runOnce(sandbox, call('return 5'))).output, 5);
    const [copy = ''] = readdirSync(join(folder, 'dist'));
    assertGuestsRun(join(folder, 'dist', copy, 'sandbox/guest.js'));
    assert(!readFileSync(join(folder, 'dist', copy, 'sandbox/guest.js'), 'utf8').includes('import type'));
  });

  it('is guest.ts where no copy can be made, which the log tells once', async () => {
    writeFileSync(join(folder, 'dist'), 'not a folder');
    sandbox = await copySandbox(folder);
    const { log, redirectLog } = await import(
      pathToFileURL(join(folder, 'platform/observability/log.ts')).href
    );
    const lines: string[] = [];
    log.level = 'warn';
    redirectLog((line: string) => lines.push(JSON.parse(line).msg));
    assert.equal((await runOnce(sandbox, call('return 5'))).output, 5);
    assert.equal((await runOnce(sandbox, call('return 5'))).output, 5);
    assert.deepEqual(lines, [
      'No copy of the sandbox program can be kept in dist/: each sandbox process takes twice the time to start.',
    ]);
    assertGuestsRun(join(folder, 'activities/code/guest.ts'));
  });

  it('is told in the log, once, to run as root where it cannot become nobody', async function () {
    if (process.getuid?.() !== 0) this.skip();
    const script = 'exec setpriv --bounding-set=-setuid,-setgid "$@"';
    const { lines, stop } = captureLog();
    for (let guests = 0; guests < 2; guests += 1) {
      const guest = await startGuest({ file: '/bin/sh', args: ['-c', script, 'sh'] }, AbortSignal.any([]));
      assert.match(readFileSync(`/proc/${guest.pid}/status`, 'utf8'), /^Uid:(\t0){4}$/m);
      guest.kill();
      await guest.exited;
    }
    stop();
    const told = lines.map(({ level, msg }) => `${level}: ${msg.split(',')[0]}`);
    assert.deepEqual(told, ['warn: Sandbox processes stay root']);
  });

  it('is guest.ts again once the copy is gone', async () => {
    sandbox = await copySandbox(folder);
    await runOnce(sandbox, call('return 5'));
    rmSync(join(folder, 'dist'), { recursive: true });
    await assert.rejects(runOnce(sandbox, call('for (;;);', 10)), {
      code: 'CODE_TIMEOUT',
      message:
        'The code did not end within 10 ms of processor time: make it cheaper, or raise processor_config.timeout_ms.',
    });
    assert.equal((await runOnce(sandbox, call('return 6'))).output, 6);
    assertGuestsRun(join(folder, 'activities/code/guest.ts'));
  });
});
