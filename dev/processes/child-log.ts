import { closeSync, openSync, readSync, statSync, truncateSync } from 'node:fs';
import { readableLine } from '../../platform/observability/log.ts';

const MAX_BYTES = 10 * 1024 * 1024;
const CHECK_MS = 10_000;
const TAIL_LINES = 15;
/** More than all the lines that follow a panic. */
const TAIL_BYTES = 1024 * 1024;
/** How a program in Go begins to say that it panicked: what led to it comes before, and then hundreds of lines of its stack. */
const PANIC = /^(panic|fatal error): /;

type ChildLog = {
  /** For the process to append to. */
  descriptor: number;
  /** Returns the last lines since it was opened, or those around a panic. */
  tail(): string;
  /** Ends the checks of its size. */
  leave(): void;
};

/** Opens a log at its end. The caller closes the descriptor. */
export function openLog(file: string): ChildLog {
  const sizeOf = () => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const descriptor = openSync(file, 'a', 0o600);
  let from = sizeOf();
  const limit = () => {
    if (sizeOf() <= MAX_BYTES) return;
    truncateSync(file);
    from = 0;
  };
  limit();
  const timer = setInterval(limit, CHECK_MS).unref();
  return {
    descriptor,
    leave: () => clearInterval(timer),
    tail() {
      try {
        return lastLines(readFrom(file, Math.max(from, sizeOf() - TAIL_BYTES)));
      } catch (error) {
        // The caller has a process to end, even when its log is unreadable.
        return `The log cannot be read: ${error}`;
      }
    },
  };
}

function readFrom(file: string, position: number): string {
  const descriptor = openSync(file, 'r');
  try {
    const buffer = Buffer.alloc(TAIL_BYTES);
    return buffer.toString('utf8', 0, readSync(descriptor, buffer, { position }));
  } finally {
    closeSync(descriptor);
  }
}

function lastLines(text: string): string {
  const lines = text.trimEnd().split('\n');
  const panic = lines.findIndex((line) => PANIC.test(line));
  const end = panic < 0 ? lines.length : panic + 1 + TAIL_LINES / 3;
  return lines
    .slice(Math.max(0, end - TAIL_LINES), end)
    .map((line) => readableLine(line).trimEnd())
    .join('\n');
}
