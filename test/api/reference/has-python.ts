import { execFileSync } from 'node:child_process';

/** Whether there is what the tools from PyPI need: Python 3.11 with venv and pip. */
export function hasPython(): boolean {
  try {
    execFileSync('python3', ['-c', 'import sys, venv, ensurepip; assert sys.version_info >= (3, 11)'], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}
