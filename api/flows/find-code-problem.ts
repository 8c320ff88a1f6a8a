// Tells whether the source of a code block parses. Nothing is run.
import { Script } from 'node:vm';

const FILE_NAME = 'block.js';
const AsyncFunction = (async () => undefined).constructor as FunctionConstructor;

/** Finds the syntax error of a code block's source, with its line in the source where it has one. */
export function findCodeProblem(source: string): string | undefined {
  try {
    new Script(`(async function (input, message, parameters) {${source}\n})`, { filename: FILE_NAME });
  } catch (error) {
    return describe(error as Error, source.split('\n').length);
  }
  try {
    // A source that closes the function early and opens another is not the body of one function.
    AsyncFunction('input', 'message', 'parameters', source);
  } catch {
    return 'SyntaxError: the code closes a brace that it did not open.';
  }
  return undefined;
}

function describe({ message, stack = '' }: Error, lines: number): string {
  const line = Number(new RegExp(`^${FILE_NAME}:(\\d+)`).exec(stack)?.[1]);
  if (line > lines) return 'SyntaxError: the code ends before all that it opens is closed.';
  return `SyntaxError: ${message}${line ? ` (line ${line} of the code)` : ''}.`;
}
