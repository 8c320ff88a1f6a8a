import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildWorkflowBundle } from '../worker/bundle.ts';

let built: Promise<{ codePath: string }> | undefined;

/** Builds the workflow code once for all workers of this process and of the programs that it starts. */
export function testWorkflowBundle(): Promise<{ codePath: string }> {
  built ??= build();
  return built;
}

async function build(): Promise<{ codePath: string }> {
  const { code } = await buildWorkflowBundle();
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-bundle-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const codePath = path.join(folder, 'workflow-bundle.js');
  writeFileSync(codePath, code);
  return { codePath };
}
