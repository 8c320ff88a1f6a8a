import { parse } from 'acorn';

/** Finds the first syntax error in the body of an async function. */
export function findSyntaxError(source: string): { at: number; message: string } | undefined {
  try {
    parse(source, {
      ecmaVersion: 'latest',
      sourceType: 'script',
      allowReturnOutsideFunction: true,
      allowAwaitOutsideFunction: true,
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError) || !('pos' in error)) throw error;
    const message = error.message.replace(/ \(\d+:\d+\)$/, '');
    return { at: Number(error.pos), message: `${message}.` };
  }
}
