import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { chooseApiPort, findFreePort, reservePort } from '../../../dev/processes/ports.ts';
import { silent } from '../../../dev/progress.ts';

const PORTS = new URL('../../../dev/processes/ports.ts', import.meta.url).href;

describe('ports of a local start', () => {
  const taken = createServer();
  let port = 0;

  before(async () => {
    taken.listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    port = typeof address === 'object' && address ? address.port : 0;
  });
  after(() => taken.close());

  it('finds another port when the preferred one is taken', async () => {
    const other = await findFreePort(port);
    assert.notEqual(other, port);
    assert.ok(other > 0);
  });

  it('keeps a preferred port that is free', async () => {
    const free = await findFreePort();
    assert.equal(await findFreePort(free), free);
  });

  it('reserves the next port when the usual one is taken, and reports it', async () => {
    const lines: string[] = [];
    const other = await reservePort('the API', port, port, (line) => lines.push(line));
    assert.ok(other > port);
    assert.match(lines.join(), RegExp(`Port ${port} is taken .* the API uses ${other}`));
  });

  it('gives two starts on one machine different ports, though neither listens yet', async () => {
    const free = await findFreePort();
    const first = await reservePort('the API', free, free, silent);
    // The reservation belongs to this process; another process would see this.
    const script = `import { reservePort } from ${JSON.stringify(PORTS)}; console.log(await reservePort('x', ${free}, ${free}, () => {}))`;
    const second = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
    });
    assert.equal(first, free);
    assert.ok(Number(second) > free);
  });

  it('tells why none can be reserved, such as a full disk', async () => {
    await withoutTemporaryFolder(() =>
      assert.rejects(reservePort('the API', 0, 20_000, silent), /ENOENT: .*\/nowhere\/weir-port/),
    );
  });

  it('gives WEIR_PORT to one of two starts, though neither listens yet', async () => {
    const free = await findFreePort();
    assert.equal(await chooseApiPort('127.0.0.1', String(free), undefined, silent), free);
    const script = `import { chooseApiPort } from ${JSON.stringify(PORTS)}; await chooseApiPort('127.0.0.1', '${free}', undefined, () => {})`;
    assert.throws(
      () => execFileSync(process.execPath, ['--input-type=module', '-e', script], { stdio: 'pipe' }),
      RegExp(`Port ${free} on 127.0.0.1 \\(WEIR_PORT\\) is taken`),
    );
  });

  it('takes a WEIR_PORT that is free also where it cannot be reserved', async () => {
    const free = await findFreePort();
    const choose = () => chooseApiPort('127.0.0.1', String(free), undefined, silent);
    assert.equal(await withoutTemporaryFolder(choose), free);
  });

  it('names WEIR_PORT when the port it asks for is taken', async () => {
    await assert.rejects(
      chooseApiPort('127.0.0.1', String(port), undefined, silent),
      RegExp(`Port ${port} .*WEIR_PORT`),
    );
  });
});

/** Reservations are files in the folder for temporary files: none can be made while this runs. */
async function withoutTemporaryFolder<T>(run: () => Promise<T>): Promise<T> {
  const { TMPDIR } = process.env;
  process.env.TMPDIR = '/nowhere';
  try {
    return await run();
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  }
}
