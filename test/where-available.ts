// Tests of what needs a command that a machine may lack: skipped there, with the reason in the name.
import { spawnSync } from 'node:child_process';

/** What shows that a command is there, and may be used: `unshare` needs root or user namespaces. */
const PROBES: { [command: string]: string[] } = {
  openssl: ['version'],
  unshare: ['--map-root-user', '--net', 'true'],
};

const isAbsent = (command: string) => spawnSync(command, PROBES[command] ?? ['--version']).status !== 0;

/** `rule`, with what is missing of `needs` where something is. */
function named(needs: string[], rule: string): { name: string; skip: boolean } {
  const absent = needs.filter(isAbsent);
  if (absent.length === 0) return { name: rule, skip: false };
  return { name: `${rule} (skipped: no ${absent.join(', ')} on this machine, or not allowed)`, skip: true };
}

/** `it`, where the machine has the commands. */
export function itWith(needs: string[], rule: string, body: () => Promise<void>): void {
  const { name, skip } = named(needs, rule);
  (skip ? it.skip : it)(name, body);
}

/** `describe`, where the machine has the commands. */
export function describeWith(needs: string[], subject: string, body: (this: Mocha.Suite) => void): void {
  const { name, skip } = named(needs, subject);
  (skip ? describe.skip : describe)(name, body);
}
