import { execFileSync } from 'node:child_process';

/** Whether there is a Java runtime, which openapi-generator needs. */
export function hasJava(): boolean {
  try {
    execFileSync('java', ['-version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
