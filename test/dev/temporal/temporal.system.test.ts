import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { getTemporalBinary } from '../../../dev/temporal/binary.ts';
import { beginDatabase } from '../../../dev/temporal/database-file.ts';
import { startTemporal } from '../../../dev/temporal/temporal.ts';

describe('the embedded Temporal', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-temporal-'));
  const environment = { ...process.env };

  before(async () => {
    // In another home folder, the binary would not be found in the cache.
    process.env.WEIR_TEMPORAL_CLI = await getTemporalBinary({ stateFolder: folder });
  });
  after(() => {
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, environment);
    rmSync(folder, { recursive: true });
  });

  async function startAndStop(name: string): Promise<void> {
    const stateFolder = path.join(folder, name);
    mkdirSync(stateFolder);
    const temporal = await startTemporal({ stateFolder, durable: false });
    await temporal.stop();
  }

  it('starts beside profiles of its CLI for another server', async () => {
    const profiles = path.join(folder, 'home/.config/temporalio');
    mkdirSync(profiles, { recursive: true });
    writeFileSync(path.join(profiles, 'temporal.toml'), '[profile.default.tls]\ndisabled = false\n');
    writeFileSync(path.join(profiles, 'temporal.yaml'), 'env:\n  default:\n    tls: "true"\n');
    process.env.HOME = path.join(folder, 'home');
    process.env.TEMPORAL_TLS = 'true';
    await startAndStop('profiles');
  });

  it('starts without HOME, as under some supervisors', async () => {
    delete process.env.HOME;
    await startAndStop('no-home');
  });

  it('starts again after a power loss that took what SQLite had in its log alone, as soon as it has started', async () => {
    const stateFolder = path.join(folder, 'power-loss');
    mkdirSync(stateFolder);
    const { child } = await startTemporal({ stateFolder });
    process.kill(child.pid, 'SIGKILL');
    await child.exited;
    for (const end of ['-wal', '-shm']) rmSync(path.join(stateFolder, `temporal.db${end}`), { force: true });
    const temporal = await startTemporal({ stateFolder });
    await temporal.stop();
  });

  it('begins a database anew that it was killed before it had finished, and keeps a finished one', async () => {
    const stateFolder = path.join(folder, 'unfinished');
    mkdirSync(stateFolder);
    const file = path.join(stateFolder, 'temporal.db');
    beginDatabase(file);
    const half = new DatabaseSync(file);
    half.exec('pragma journal_mode=wal; create table half (made)');
    half.close();
    await (await startTemporal({ stateFolder })).stop();
    const finished = new DatabaseSync(file);
    finished.exec('create table kept (here)');
    finished.close();
    await (await startTemporal({ stateFolder })).stop();
    const open = new DatabaseSync(file);
    const tables = open.prepare("select name from sqlite_schema where name in ('half', 'kept')").all();
    open.close();
    assert.deepEqual(
      tables.map(({ name }) => name),
      ['kept'],
    );
  });

  it('starts again on other ports when another program has taken one, of which the server panics', async () => {
    const stateFolder = path.join(folder, 'ports');
    mkdirSync(stateFolder);
    const [script, tried] = [path.join(stateFolder, 'temporal'), path.join(stateFolder, 'tried')];
    const real = process.env.WEIR_TEMPORAL_CLI;
    writeFileSync(
      script,
      `#!/bin/sh
      if [ "$1" = server ] && [ "$2" = start-dev ] && [ "$3" != --help ] && [ ! -e '${tried}' ]; then
        touch '${tried}'
        echo 'level=ERROR msg="Failed to start gRPC listener" error="listen tcp 127.0.0.1:1: bind: address already in use"'
        echo 'panic: runtime error: invalid memory address or nil pointer dereference'
        seq 100
        exit 2
      fi
      exec '${real}' "$@"`,
      { mode: 0o700 },
    );
    process.env.WEIR_TEMPORAL_CLI = script;
    try {
      const temporal = await startTemporal({ stateFolder, durable: false });
      await temporal.stop();
      assert(existsSync(tried));
    } finally {
      process.env.WEIR_TEMPORAL_CLI = real;
    }
  });

  for (const [what, server, message] of [
    ['ends', 'exit 3', /^The Temporal server ended with code 3\. It logged nothing in \S+temporal\.log\.$/],
    [
      'answers nothing',
      'exec sleep 60',
      /^The Temporal server did not answer within 0\.5 s: connection refused\. It logged nothing in \S+temporal\.log\.$/,
    ],
  ] as const)
    it(`says in whole sentences that a server ${what} that logs nothing`, async () => {
      const stateFolder = path.join(folder, `silent-${what.split(' ')[0]}`);
      mkdirSync(stateFolder);
      const script = path.join(stateFolder, 'temporal');
      const real = process.env.WEIR_TEMPORAL_CLI;
      writeFileSync(
        script,
        `#!/bin/sh
        if [ "$1" = operator ]; then printf 'a warning\\nconnection refused\\n' >&2; exit 1; fi
        if [ "$1" = server ] && [ "$3" != --help ]; then ${server}; fi
        exec '${real}' "$@"`,
        { mode: 0o700 },
      );
      process.env.WEIR_TEMPORAL_CLI = script;
      try {
        await assert.rejects(startTemporal({ stateFolder, startTimeoutMs: 500 }), { message });
      } finally {
        process.env.WEIR_TEMPORAL_CLI = real;
      }
    });

  it('says that the file is of another release of Temporal where a column is missing, and what to do', async () => {
    const stateFolder = path.join(folder, 'other-release');
    mkdirSync(stateFolder);
    await (await startTemporal({ stateFolder })).stop();
    const file = new DatabaseSync(path.join(stateFolder, 'temporal.db'), {
      enableDoubleQuotedStringLiterals: true,
    });
    file.exec('alter table namespaces rename column notification_version to other');
    file.close();
    await assert.rejects(
      startTemporal({ stateFolder }),
      /temporal\.db is of another release of Temporal: set WEIR_TEMPORAL_CLI to that one, or move the file away/,
    );
  });

  it('says which file is damaged and what to do, with the end of the log before the stop', async () => {
    const stateFolder = path.join(folder, 'damaged');
    mkdirSync(stateFolder);
    writeFileSync(path.join(stateFolder, 'temporal.db'), 'no database at all'.repeat(1_000));
    const notes: string[] = [];
    const note = (line: string) => notes.push(line);
    await assert.rejects(startTemporal({ stateFolder, note }), ({ message }: Error) => {
      assert.match(message, /temporal\.db is damaged: move it away, and start again\./);
      assert.match(message, /file is not a database/);
      return true;
    });
    assert.deepEqual(notes, []);
  });
});
