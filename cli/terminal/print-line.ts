// Prints lines, tables and results. Text from elsewhere is made safe for a terminal.
import { escapeControls } from './format-table.ts';

/**
 * Prints text, and a line feed where it ends without one. All that a command prints passes through here, so that no control
 * character in what others wrote reaches the terminal.
 */
export function printLine(text: string, stream: NodeJS.WriteStream = process.stdout): void {
  stream.write(escapeControls(text.endsWith('\n') ? text : `${text}\n`));
}

/** Prints a line for people to stderr, beside what a command prints for scripts. */
export function note(text: string): void {
  printLine(text, process.stderr);
}
