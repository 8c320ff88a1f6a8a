import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = new URL('../../', import.meta.url);

describe('the workflow code of a worker', () => {
  it('is built for the process alone where dist/ takes no file, which the log tells', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-'));
    for (const part of ['worker/bundle.ts', 'platform/observability', 'package.json', 'package-lock.json'])
      cpSync(new URL(part, root), join(folder, part), { recursive: true });
    symlinkSync(new URL('node_modules', root), join(folder, 'node_modules'));
    mkdirSync(join(folder, 'workflows'));
    for (const name of ['index', 'trace-interceptors', 'failure-converter'])
      writeFileSync(join(folder, 'workflows', `${name}.ts`), 'export {};');
    writeFileSync(join(folder, 'dist'), 'not a folder');
    const load = (file: string) => import(pathToFileURL(join(folder, file)).href);
    const { log, redirectLog } = await load('platform/observability/log.ts');
    const lines: { msg: string; err: { message: string } }[] = [];
    log.level = 'warn';
    redirectLog((line: string) => lines.push(JSON.parse(line)));
    const { workflowBundle } = await load('worker/bundle.ts');
    assert.equal(typeof (await workflowBundle({})).code, 'string');
    assert.deepEqual(
      lines.map(({ msg }) => msg),
      ['The workflow code cannot be kept in dist/: this worker takes 100 MB more memory.'],
    );
    assert.match(lines[0]?.err.message ?? '', /dist/);
    rmSync(folder, { recursive: true });
  });
});
