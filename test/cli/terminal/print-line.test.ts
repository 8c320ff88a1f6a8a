import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { ROOT, weirIn } from '../cli-harness.ts';

/** The completion script is our own text. */
/** The last prints nothing: it waits until all is printed. */
const OWN = ['cli/terminal/print.ts', 'cli/terminal/completion.ts', 'cli/doctor/doctor.ts'];
const HOSTILE = 'a\u001b]0;x\u0007\u009b2J\u202eb';
const SHOWN = 'a\\u001b]0;x\\u0007\\u009b2J\\u202eb';

describe('What a command prints', () => {
  it('goes through printLine, wherever it is printed', async () => {
    const found: string[] = [];
    for await (const file of glob('cli/**/*.ts', { cwd: ROOT }))
      if (/\bconsole\.\w+\(|process\.std(out|err)\.write/.test(readFileSync(path.join(ROOT, file), 'utf8')))
        found.push(file);
    assert.deepEqual(
      found.filter((file) => !OWN.includes(file)),
      [],
    );
  });

  it('and cannot be written is told of in a sentence, and the command ends with 1', async function () {
    if (!existsSync('/dev/full')) this.skip();
    const command = '"$0" cli/weir.ts completion bash > /dev/full';
    const ended = promisify(execFile)('sh', ['-c', command, process.execPath], { cwd: ROOT });
    await assert.rejects(ended, {
      code: 1,
      stderr: /^The output of this command cannot be written: ENOSPC: no space left on device, write\.\n$/,
    });
  });

  it('has no control characters of the service in errors', async () => {
    const detail = { code: 'NOT_FOUND', message: HOSTILE };
    const server = createServer((_request, response) =>
      response.writeHead(404).end(JSON.stringify({ detail })),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const WEIR_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const { code, stderr } = await weirIn({ WEIR_URL, WEIR_API_KEY: 'weir_live_x' }, ['whoami']);
      assert.deepEqual([code, stderr], [1, `${SHOWN} (NOT_FOUND)\n`]);
    } finally {
      server.close();
    }
  });
});
