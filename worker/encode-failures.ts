import { readFile } from 'node:fs/promises';
import type { WorkflowBundleOption } from '@temporalio/worker';
import type { Config } from '../platform/config/config.ts';

/** Read by workflows/failure-converter.ts: workflow code knows no configuration. In the first line, so that stacks stay true. */
const SWITCH = 'globalThis.weirEncodesFailures=true;';

/** Returns the workflow code; where payloads are encrypted, it puts messages of failures into payloads. */
export async function encodeFailures(
  { temporalEncryption }: Pick<Config, 'temporalEncryption'>,
  bundle: WorkflowBundleOption,
): Promise<WorkflowBundleOption> {
  if (!temporalEncryption.encrypts) return bundle;
  const code = 'code' in bundle ? bundle.code : await readFile(bundle.codePath, 'utf8');
  return { code: SWITCH + code };
}
