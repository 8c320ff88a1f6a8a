import { Script } from 'node:vm';

const FILE_NAME = 'block.js';
const AsyncFunction = (async () => undefined).constructor as FunctionConstructor;

const HEAD = '(async function (input, message, parameters) {';

/** A syntax error, with its place in the source where it has one: `line` and `column` count from 1. */
export type CodeProblem = { message: string; line?: number; column?: number };

/** Finds the syntax error of a code block's source. */
export function findCodeProblem(source: string): CodeProblem | undefined {
  try {
    new Script(`${HEAD}${source}\n})`, { filename: FILE_NAME });
  } catch (error) {
    return describe(error as Error, source.split('\n').length);
  }
  try {
    // A source that closes the function early and opens another is not the body of one function.
    AsyncFunction('input', 'message', 'parameters', source);
  } catch {
    return { message: 'SyntaxError: the code closes a brace that it did not open.' };
  }
  return undefined;
}

function describe(error: Error, lines: number): CodeProblem {
  if (error instanceof RangeError) return { message: 'SyntaxError: the code is nested too deeply.' };
  const { message, stack = '' } = error;
  const line = Number(new RegExp(`^${FILE_NAME}:(\\d+)`).exec(stack)?.[1]);
  if (line > lines) return { message: 'SyntaxError: the code ends before all that it opens is closed.' };
  if (!line) return { message: `SyntaxError: ${message}.` };
  // The stack shows the line, and below it marks the place.
  const [, , marks = ''] = stack.split('\n');
  const column = marks.indexOf('^') + 1 - (line === 1 ? HEAD.length : 0);
  return {
    message: `SyntaxError: ${message} (line ${line} of the code).`,
    line,
    ...(column > 0 && { column }),
  };
}
