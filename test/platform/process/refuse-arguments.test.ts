import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '../../..');
const env = { ...process.env, WEIR_LOG_LEVEL: 'info' };
const PROGRAMS = [
  'dev/start.ts',
  'api/server.ts',
  'worker/worker.ts',
  'api/serve-with-worker.ts',
  'db/run-migrations.ts',
];

describe('a program whose settings are environment variables', () => {
  for (const program of PROGRAMS)
    it(`does not start with an argument, which it would leave unheard: ${program}`, async () => {
      const { code, output } = await new Promise<{ code: unknown; output: string }>((resolve) =>
        execFile(process.execPath, [program, '--port=3'], { cwd: ROOT, env }, (error, stdout, stderr) =>
          resolve({ code: error?.code, output: stdout + stderr }),
        ),
      );
      assert.equal(code, 1);
      assert.match(output, /Unknown argument \\?"--port=3\\?": this program takes none\./);
    });
});
