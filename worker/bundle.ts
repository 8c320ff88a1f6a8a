// main of `npm run bundle`: the workflow bundle that production workers load instead of building it at each start.
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { bundleWorkflowCode, type WorkflowBundleOption } from '@temporalio/worker';
import type { Config } from '../config.ts';

const ROOT = path.dirname(import.meta.dirname);
const BUILT = path.join(ROOT, 'dist', 'workflow-bundle.js');

/** Returns the workflow code for a worker: a bundle built before, for tests or in production, else a fresh one. */
export async function workflowBundle(
  config: Pick<Config, 'production' | 'testWorkflowBundle'>,
): Promise<WorkflowBundleOption> {
  if (config.testWorkflowBundle) return { codePath: config.testWorkflowBundle };
  if (config.production && existsSync(BUILT)) return { codePath: BUILT };
  return buildWorkflowBundle();
}

/** Builds the workflow code anew. */
export function buildWorkflowBundle(): Promise<{ code: string }> {
  const silent = () => undefined;
  return bundleWorkflowCode({
    workflowsPath: path.join(ROOT, 'workflows', 'index.ts'),
    logger: {
      trace: silent,
      debug: silent,
      info: silent,
      log: silent,
      warn: console.warn,
      error: console.error,
    },
  });
}

if (import.meta.main) {
  const { code } = await buildWorkflowBundle();
  await mkdir(path.dirname(BUILT), { recursive: true });
  await writeFile(BUILT, code);
  console.log(`Wrote ${path.relative(process.cwd(), BUILT)}.`);
}
