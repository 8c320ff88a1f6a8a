import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { getTemporalBinary, TEMPORAL_CLI_VERSION } from '../../../dev/temporal/binary.ts';

const CACHE_NAME = `temporal-${TEMPORAL_CLI_VERSION}-${process.platform}-${process.arch}`;
/** Nothing listens on port 1: the download fails at once. */
const NO_DOWNLOAD = 'http://127.0.0.1:1/cli';

describe('the Temporal binary of a local start', () => {
  let folder = '';
  let env: NodeJS.ProcessEnv = {};

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'weir-binary-'));
    env = { PATH: path.join(folder, 'bin'), XDG_CACHE_HOME: path.join(folder, 'cache') };
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** An executable that answers as the Temporal CLI does, or as some other program of its name. */
  function put(file: string, help = 'Usage: --sqlite-pragma'): string {
    const full = path.join(folder, file);
    mkdirSync(path.dirname(full), { recursive: true });
    writeFileSync(full, `#!/bin/sh\necho '${help}'\n`);
    chmodSync(full, 0o755);
    return full;
  }
  const find = () => getTemporalBinary({ stateFolder: folder, env, downloadUrl: NO_DOWNLOAD });

  it('is the one WEIR_TEMPORAL_CLI names, before all others', async () => {
    put('bin/temporal');
    env.WEIR_TEMPORAL_CLI = put('mine/temporal');
    assert.equal(await find(), env.WEIR_TEMPORAL_CLI);
  });

  it('is never replaced by another one when WEIR_TEMPORAL_CLI names one that does not run', async () => {
    put('bin/temporal');
    env.WEIR_TEMPORAL_CLI = path.join(folder, 'missing');
    await assert.rejects(find(), /WEIR_TEMPORAL_CLI is .*missing/);
  });

  it('is the one on PATH, before the cache', async () => {
    put(`cache/weir/${CACHE_NAME}/temporal`);
    assert.equal(await find().then(path.dirname), path.join(folder, 'cache/weir', CACHE_NAME));
    const onPath = put('bin/temporal');
    assert.equal(await find(), onPath);
  });

  it('is not taken from PATH when it has no development server', async () => {
    put('bin/temporal', 'some other program');
    const cached = put(`cache/weir/${CACHE_NAME}/temporal`);
    assert.equal(await find(), cached);
  });

  it('is built with Go where the download fails, with lines that say why and where the log is', async () => {
    put('bin/go');
    const go = path.join(folder, 'bin/go');
    const made = `printf "#!/bin/sh\\necho --sqlite-pragma\\n" > "$8"; /bin/chmod 755 "$8"`;
    writeFileSync(go, `#!/bin/sh\n[ "$1" = env ] && echo go1.26.4 && exit\n${made}\n`);
    const notes: string[] = [];
    const note = (line: string) => notes.push(line);
    const binary = await getTemporalBinary({ stateFolder: folder, env, downloadUrl: NO_DOWNLOAD, note });
    assert.equal(binary, path.join(folder, 'cache/weir', CACHE_NAME, 'temporal'));
    assert.match(notes[0] ?? '', /^the official download failed: 127\.0\.0\.1:1/);
    assert.deepEqual(notes.slice(1), [
      `the log of the build is ${path.join(folder, 'logs/temporal-build.log')}`,
    ]);
  });

  it('is reported missing in one message with the attempts and the ways out', async () => {
    await assert.rejects(find(), ({ message }: Error) => {
      for (const tried of ['on PATH', 'the cache', 'official download: 127.0.0.1:1', 'Go is not installed'])
        assert.ok(message.includes(tried), `${tried} in ${message}`);
      for (const wayOut of ['WEIR_TEMPORAL_CLI', 'TEMPORAL_ADDRESS', 'https://docs.temporal.io/cli'])
        assert.ok(message.includes(wayOut), `${wayOut} in ${message}`);
      return true;
    });
  });
});
