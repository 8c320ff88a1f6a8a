import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Sandbox } from '../../../activities/code/sandbox.ts';
import { createLargeJson } from '../../../platform/large-values/large-json.ts';

const root = new URL('../../../', import.meta.url);

/** Copies the program of the sandbox into an existing folder, and creates a sandbox from there. */
export async function copySandbox(folder: string): Promise<Sandbox> {
  for (const part of [...['activities/code', 'flow', 'platform'], 'package.json']) {
    cpSync(new URL(part, root), join(folder, part), { recursive: true });
  }
  symlinkSync(new URL('node_modules', root), join(folder, 'node_modules'));
  const copy = await import(pathToFileURL(join(folder, 'activities/code/sandbox.ts')).href);
  return copy.createSandbox({ processes: 1, largeJson: createLargeJson() });
}
