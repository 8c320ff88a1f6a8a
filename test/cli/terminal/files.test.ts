import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../cli-harness.ts';

describe('A file that a command writes', () => {
  it('is as it was before when the disk takes only a part of it', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'weir-files-'));
    try {
      const file = path.join(folder, 'flow.yaml');
      await writeFile(file, 'before');
      // A limit on the size of files refuses the rest, as a full disk does.
      const program = `
        const { writeText } = await import('./cli/terminal/files.ts');
        await writeText(process.argv[1], 'x'.repeat(1_000_000)).catch(({ message }) => console.log(message));`;
      const command = 'ulimit -f 64 && exec "$0" --input-type=module -e "$1" "$2"';
      const args = ['-c', command, process.execPath, program, file];
      const { stdout } = await promisify(execFile)('sh', args, { cwd: ROOT });
      assert.match(stdout, /flow\.yaml cannot be written: EFBIG/);
      assert.equal(await readFile(file, 'utf8'), 'before');
      assert.deepEqual(await readdir(folder), ['flow.yaml']);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
