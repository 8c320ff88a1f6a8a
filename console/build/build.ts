// main of `npm run console:build`; `npm start` runs it too. The last line of output is the result.
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { buildConsole } from './build-console.ts';

const TARGET = path.join(import.meta.dirname, '../../dist/console');

// `npm start` sets a umask for its own user only; these files may be served by another account.
process.umask(0o022);
try {
  console.log((await buildConsole(TARGET)) ? 'built' : 'up to date');
} catch (error) {
  console.error(error);
  console.error(explain(error as NodeJS.ErrnoException));
  process.exitCode = 1;
}

function explain({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ERR_MODULE_NOT_FOUND')
    return 'the packages that build it are not installed: run npm ci --include=dev';
  if (code === 'EACCES' || code === 'EROFS') return `${path.dirname(TARGET)} cannot be written`;
  const lines = stripVTControlCharacters(message).split('\n');
  // The first line of the bundler's message counts the errors; the following lines describe each with its position.
  const [first = ''] = lines.filter((line) => line.trim() !== '' && !/^Build failed with/.test(line));
  const [, place] = /\[ (\S+:\d+:\d+) \]/.exec(lines.join('\n')) ?? [];
  return place === undefined ? first.trim() : `${place}: ${first.trim()}`;
}
