// Skips tests that need a command which this machine lacks, and says so in their names.
import { spawnSync } from 'node:child_process';
import path from 'node:path';

/** Arguments that show whether a command can be used: `unshare` needs root or user namespaces. */
const PROBES: { [command: string]: string[] } = {
  // An old release of Go does not understand this file.
  go: ['mod', 'edit', '-json', path.join(import.meta.dirname, 'deploy/helm-module/go.mod')],
  haproxy: ['-v'],
  openssl: ['version'],
  // That of BusyBox does not tell when a process began.
  ps: ['-o', 'lstart=', '-p', '1'],
  unshare: ['--map-root-user', '--net', 'true'],
};

const isAbsent = (command: string) => spawnSync(command, PROBES[command] ?? ['--version']).status !== 0;

/** Adds to `rule` which commands of `needs` are missing. */
function named(needs: string[], rule: string): { name: string; skip: boolean } {
  const absent = needs.filter(isAbsent);
  if (absent.length === 0) return { name: rule, skip: false };
  return { name: `${rule} (skipped: no ${absent.join(', ')} on this machine, or not allowed)`, skip: true };
}

/** Does what `it` does, where the machine has the commands. */
export function itWith(needs: string[], rule: string, body: () => Promise<void>): void {
  const { name, skip } = named(needs, rule);
  (skip ? it.skip : it)(name, body);
}

/** Does what `describe` does, where the machine has the commands. */
export function describeWith(needs: string[], subject: string, body: (this: Mocha.Suite) => void): void {
  const { name, skip } = named(needs, subject);
  (skip ? describe.skip : describe)(name, body);
}
