// Helpers of the tests of flow files.
import assert from 'node:assert/strict';
import type { FileProblem } from '../../../api/flows/file-problems.ts';
import { type FlowFileFormat, parseFlowFile } from '../../../api/flows/flow-file.ts';
import { ServiceError } from '../../../flow/errors.ts';

/** The text of a flow file with these steps, written as YAML. */
export function yaml(steps: string): string {
  return `name: Flow\nslug: flow\nsteps:\n${steps}`;
}

/** Returns the problems that parsing finds. */
export function refusal(
  text: string,
  format: FlowFileFormat = 'yaml',
): { code: string; problems: FileProblem[] } {
  try {
    parseFlowFile(text, format);
  } catch (error) {
    assert.ok(error instanceof ServiceError, String(error));
    return { code: error.code, problems: (error.extra.problems as FileProblem[] | undefined) ?? [] };
  }
  throw new Error('It was accepted.');
}
