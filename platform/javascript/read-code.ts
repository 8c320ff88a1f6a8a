// Reads the source of a code block without running it: whether it parses, and which outputs it names.
import { type CodeProblem, findCodeProblem } from './find-code-problem.ts';
import { listOutputsNamed } from './list-outputs-named.ts';

/** A source's syntax error, if it has one, and the steps whose outputs it names for sure. */
export type CodeFindings = { problem?: CodeProblem | undefined; named: string[] };

/** Reads the source of a code block where the caller runs: for tens of milliseconds, when it is as long as a source may be. */
export function readCode(source: string): CodeFindings {
  return { problem: findCodeProblem(source), named: listOutputsNamed(source) };
}
