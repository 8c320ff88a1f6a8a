import { ServiceError } from '../../flow/errors.ts';
import type { PathSegment } from '../../flow/step-path.ts';

const PROBLEMS_MAX = 100;

/** A problem in a flow file. `path` is for people: `steps[2].branches.summary[0].prompt`. `line` counts from 1. */
export type FileProblem = { path: string; message: string; line?: number };
/** `line`: set when it differs from the line of the path. `within`: the position in the text at the path, from 1. */
export type Problem = {
  path: PathSegment[];
  message: string;
  line?: number;
  within?: { line?: number; column?: number };
};

/** Makes the error that lists problems in the order of their lines. */
export function describeFileProblems(
  code: 'VALIDATION_ERROR' | 'INVALID_TREE',
  problems: FileProblem[],
): ServiceError {
  const shown = problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)).slice(0, PROBLEMS_MAX);
  const lines = shown.map(
    ({ path, message, line }) => `${line ? `line ${line}: ` : ''}${path ? `${path}: ` : ''}${message}`,
  );
  if (problems.length > shown.length) lines.push(`and ${problems.length - shown.length} more problems.`);
  return new ServiceError(code, lines.join('\n'), { problems: shown });
}
