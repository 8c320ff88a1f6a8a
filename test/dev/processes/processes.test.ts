import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { mock } from 'node:test';
import { type Child, startChild } from '../../../dev/processes/child.ts';
import { endRecordedProcesses, processStartTime } from '../../../dev/processes/end-process.ts';
import { takeStartLock } from '../../../dev/processes/process-lock.ts';
import { restartOnExit } from '../../../dev/processes/restart-on-exit.ts';
import { waitUntil } from '../../wait-until.ts';

describe('processes of a local start', () => {
  const stateFolder = mkdtempSync(path.join(tmpdir(), 'weir-processes-'));
  after(async () => {
    await endRecordedProcesses(stateFolder);
    rmSync(stateFolder, { recursive: true });
  });

  const start = (
    name: string,
    order: number,
    script: string,
    options: { stopTimeoutMs?: number; stateFolder?: string } = {},
  ): Child =>
    startChild({
      stateFolder,
      name,
      order,
      command: 'sh',
      args: ['-c', script],
      stopSignal: 'SIGTERM',
      stopTimeoutMs: 10_000,
      ...options,
    });

  /** Resolves once it has said something. */
  const ready = async (child: Child) => {
    await waitUntil(() => child.logTail() !== '');
  };

  it('end in order, those that need others first', async () => {
    const ends = path.join(stateFolder, 'ends');
    for (const [name, order] of [
      ['database', 3],
      ['service', 1],
      ['engine', 2],
    ] as const) {
      const script = `trap 'echo ${name} >> ${ends}; exit' TERM; echo ready; while :; do sleep 0.1; done`;
      await ready(start(name, order, script));
    }
    assert.deepEqual(await endRecordedProcesses(stateFolder), ['service', 'engine', 'database']);
    assert.equal(readFileSync(ends, 'utf8'), 'service\nengine\ndatabase\n');
    assert.deepEqual(readdirSync(path.join(stateFolder, 'run')), []);
  });

  it('are killed with all their children when they do not end', async () => {
    const child = start('stubborn', 1, 'trap "" TERM; sleep 100 & echo $!; while :; do sleep 0.1; done', {
      stopTimeoutMs: 200,
    });
    await ready(child);
    const grandchild = Number(child.logTail());
    await child.stop();
    assert.equal(await child.exited, 'was ended by SIGKILL');
    assert.equal(processStartTime(child.pid), undefined);
    await waitUntil(() => !processStartTime(grandchild));
  });

  it('have their time to end also when the clock is set meanwhile', async () => {
    const child = start('slow', 1, 'trap "sleep 0.3; exit 3" TERM; echo ready; while :; do sleep 0.1; done');
    await ready(child);
    let now = Date.now();
    mock.method(Date, 'now', () => (now += 3_600_000));
    await child.stop().finally(() => mock.restoreAll());
    assert.equal(await child.exited, 'ended with code 3');
  });

  it('are never mistaken for another one with the same number', async () => {
    const child = start('bystander', 1, 'exec sleep 100');
    const record = {
      name: 'old',
      pid: child.pid,
      startTime: '1',
      order: 1,
      stopSignal: 'SIGKILL',
      stopTimeoutMs: 1,
    };
    mkdirSync(path.join(stateFolder, 'run'), { recursive: true });
    writeFileSync(path.join(stateFolder, 'run', `${child.pid}.json`), JSON.stringify(record));
    assert.deepEqual(await endRecordedProcesses(stateFolder), []);
    assert.ok(processStartTime(child.pid));
    process.kill(child.pid);
    await child.exited;
  });

  it('are ended by a watchdog that took the place of a killed one, when their supervisor is killed', async () => {
    const child = start('left', 1, 'echo ready; exec sleep 100');
    await ready(child);
    // It prints the process id of each watchdog that it starts.
    const supervisor = spawn(process.execPath, [
      ...['--input-type=module', '--eval'],
      `import { subscribe } from 'node:diagnostics_channel';
      import { startWatchdog } from ${JSON.stringify(path.resolve('dev/processes/watchdog.ts'))};
      subscribe('child_process', ({ process }) => process.on('spawn', () => console.log(process.pid)));
      startWatchdog(${JSON.stringify(stateFolder)});
      setInterval(() => undefined, 1_000);`,
    ]);
    supervisor.on('error', () => undefined);
    let printed = '';
    supervisor.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
    await waitUntil(() => /^\d+\n/.test(printed));
    process.kill(Number.parseInt(printed, 10), 'SIGKILL');
    await waitUntil(() => /^\d+\n.*\d+\n$/s.test(printed));
    supervisor.kill('SIGKILL');
    assert.match(await child.exited, /SIGTERM/);
  });

  it('are left alone by the watchdog of an earlier start, and ended by that of their own', async () => {
    const lock = takeStartLock(stateFolder);
    const child = start('guarded', 1, 'exec sleep 100');
    const program = path.resolve('dev/processes/watchdog.ts');
    const runWatchdogOf = (supervisor: number) =>
      execFileSync(process.execPath, [program, stateFolder, String(supervisor)]);
    runWatchdogOf(process.ppid);
    assert.ok(processStartTime(child.pid));
    runWatchdogOf(process.pid);
    assert.equal(processStartTime(child.pid), undefined);
    lock.release();
  });

  it('are killed when they cannot be recorded, such as on a full disk', async function () {
    if (process.platform !== 'linux') this.skip();
    const folder = mkdtempSync(path.join(tmpdir(), 'weir-unrecorded-'));
    // No file can be made there.
    symlinkSync('/proc/self', path.join(folder, 'run'));
    const begun: ChildProcess[] = [];
    const note = (message: unknown) => void begun.push((message as { process: ChildProcess }).process);
    subscribe('child_process', note);
    assert.throws(() => start('unrecorded', 1, 'exec sleep 60', { stateFolder: folder }));
    unsubscribe('child_process', note);
    const [, signal] = await once(begun[0] as ChildProcess, 'exit');
    assert.equal(signal, 'SIGKILL');
    rmSync(folder, { recursive: true });
  });

  it('say that a command is missing', async () => {
    const child = startChild({
      stateFolder,
      name: 'missing',
      order: 1,
      command: path.join(stateFolder, 'no-such-program'),
      args: [],
      stopSignal: 'SIGTERM',
      stopTimeoutMs: 1,
    });
    assert.match(await child.exited, /could not be started: .*ENOENT/);
  });

  it('log to one file, whose end is told without the lines of earlier ones', async () => {
    for (const line of ['first', 'second']) {
      const child = start('talker', 1, `echo ${line}`);
      await child.exited;
      assert.equal(child.logTail(), line);
    }
    assert.equal(readFileSync(path.join(stateFolder, 'logs/talker.log'), 'utf8'), 'first\nsecond\n');
  });

  it('are restarted when they end, until the limit, which is reported with the end of the last one’s log', async () => {
    let starts = 1;
    const message = await restartOnExit({
      name: 'The engine',
      child: start('failing', 1, 'echo first; exit 3'),
      start: async () => {
        starts += 1;
        return start('failing', 1, `echo start ${starts}; exit 3`);
      },
      maxRestarts: 2,
      report: () => undefined,
      signal: new AbortController().signal,
    });
    assert.equal(starts, 3);
    assert.match(message ?? '', /^The engine ended with code 3 and could not be restarted\.[^\n]*\nstart 3$/);
  });

  it('that do not start again are told of with the reason, in whole sentences', async () => {
    const reports: string[] = [];
    const reason = 'The Temporal server ended with code 1. The end of temporal.log:\nits last line';
    const message = await restartOnExit({
      name: 'Temporal',
      child: start('failing', 1, 'exit 3'),
      start: () => Promise.reject(new Error(reason)),
      maxRestarts: 2,
      report: (line) => reports.push(line),
      signal: new AbortController().signal,
    });
    assert.equal(message, `Temporal could not be restarted: ${reason}`);
    assert.match(reports[0] ?? '', /^Temporal ended with code 3; starting it again in 0\.5 s \(log: .*\)$/);
    assert.equal(reports[1], `Temporal is started again in 1 s, as it did not start: ${reason}`);
  });

  it('that logged nothing are told of without an empty end of their log', async () => {
    const child = start('silent', 1, 'exit 3');
    await child.exited;
    assert.equal(child.describeLog(), `It logged nothing in ${child.logFile}.`);
  });
});
