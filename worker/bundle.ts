// main of `npm run bundle`: the workflow bundle that production workers load instead of building it at each start.
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { bundleWorkflowCode, type WorkflowBundleOption } from '@temporalio/worker';

const ROOT = path.dirname(import.meta.dirname);
const BUILT = path.join(ROOT, 'dist', 'workflow-bundle.js');

/** Returns the workflow code for a worker: in production the built bundle if there is one, else a fresh one. */
export async function workflowBundle(production: boolean): Promise<WorkflowBundleOption> {
  if (production && existsSync(BUILT)) return { codePath: BUILT };
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
  const bundle = await workflowBundle(false);
  if (!('code' in bundle)) throw new Error('bundleWorkflowCode answered no code');
  await mkdir(path.dirname(BUILT), { recursive: true });
  await writeFile(BUILT, bundle.code);
  console.log(`Wrote ${path.relative(process.cwd(), BUILT)}.`);
}
