// main of `npm run bundle`, which builds the workflow code that workers load. A worker that finds none for its sources runs
// this file in a process of its own: the compiler takes over a hundred megabytes, which end with that process.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { bundleWorkflowCode, type WorkflowBundleOption } from '@temporalio/worker';
import type { Config } from '../platform/config/config.ts';
import { log } from '../platform/observability/log.ts';

const ROOT = path.dirname(import.meta.dirname);
const FOLDER = path.join(ROOT, 'dist');
const NAME = 'workflow-bundle';
/** Everything that the bundle depends on: lint lets workflows/ import flow/ and packages only. */
const SOURCES = ['workflows/**/*.ts', 'flow/**/*.ts', 'worker/bundle.ts', 'package-lock.json'];

/**
 * Returns the workflow code for a worker: that given for tests, else the bundle of these sources, which is built when it is
 * missing. Where it cannot be kept on disk, it is built for this process alone.
 */
export async function workflowBundle(
  config: Pick<Config, 'testWorkflowBundle'>,
): Promise<WorkflowBundleOption> {
  if (config.testWorkflowBundle) return { codePath: config.testWorkflowBundle };
  const codePath = bundlePath();
  if (!existsSync(codePath))
    await promisify(execFile)(process.execPath, [import.meta.filename]).catch((error: unknown) =>
      log.warn(
        { err: error },
        'The workflow code cannot be kept in dist/: this worker takes 100 MB more memory.',
      ),
    );
  return existsSync(codePath) ? { codePath } : buildWorkflowBundle();
}

/** Builds the workflow code anew, without the sources' text in its source map, which every workflow thread would hold. */
export async function buildWorkflowBundle(): Promise<{ code: string }> {
  const silent = () => undefined;
  const { code } = await bundleWorkflowCode({
    workflowsPath: path.join(ROOT, 'workflows', 'index.ts'),
    workflowInterceptorModules: [path.join(ROOT, 'workflows', 'trace-interceptors.ts')],
    failureConverterPath: path.join(ROOT, 'workflows', 'failure-converter.ts'),
    logger: {
      trace: silent,
      debug: silent,
      info: silent,
      log: silent,
      warn: (message) => log.warn(message),
      error: (message) => log.error(message),
    },
  });
  return { code: withoutSourcesText(code) };
}

function withoutSourcesText(code: string): string {
  const marker = '//# sourceMappingURL=data:application/json;charset=utf-8;base64,';
  const start = code.lastIndexOf(marker) + marker.length;
  const map = JSON.parse(Buffer.from(code.slice(start), 'base64').toString()) as { sourcesContent?: unknown };
  delete map.sourcesContent;
  return code.slice(0, start) + Buffer.from(JSON.stringify(map)).toString('base64');
}

/** Returns the path of the bundle of the sources as they are now. */
function bundlePath(): string {
  const hash = createHash('sha256').update(process.version);
  for (const file of globSync(SOURCES, { cwd: ROOT }).sort())
    hash.update(`\0${file}\0`).update(readFileSync(path.join(ROOT, file)));
  return path.join(FOLDER, `${NAME}-${hash.digest('hex').slice(0, 16)}.js`);
}

if (process.argv[1] === import.meta.filename) {
  const file = bundlePath();
  const { code } = await buildWorkflowBundle();
  mkdirSync(FOLDER, { recursive: true });
  // Renamed, so that nobody loads half a bundle.
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, code);
  renameSync(draft, file);
  for (const old of globSync(`${NAME}*.js`, { cwd: FOLDER }))
    if (old !== path.basename(file)) rmSync(path.join(FOLDER, old), { force: true });
  log.info(`Wrote ${path.relative(process.cwd(), file)}.`);
}
