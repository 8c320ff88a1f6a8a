// The command that starts guest processes: no network, no new privileges, bounded resources, empty environment.
import { type ExecFileException, execFile } from 'node:child_process';
import { PROCESS_CPU_SECONDS, PROCESS_DATA_MAX_BYTES } from './limits.ts';
import { SandboxUnavailable } from './sandbox-errors.ts';

/** `ulimit` works on every platform; a limit that the platform lacks is skipped. */
const LIMITS = [
  'ulimit -c 0',
  'ulimit -f 0',
  'ulimit -n 64',
  `ulimit -t ${PROCESS_CPU_SECONDS}`,
  `ulimit -d ${PROCESS_DATA_MAX_BYTES / 1024}`,
];
/** When memory runs short, Linux kills guests first, or the whole container where its cgroup says so (`memory.oom.group`). */
const FIRST_VICTIM = 'echo 1000 > /proc/self/oom_score_adj';
const SCRIPT = `${[FIRST_VICTIM, ...LIMITS].map((limit) => `{ ${limit}; } 2>/dev/null`).join('; ')}; exec env -i "$@"`;

/** Root needs no user namespace, and inside one it could no longer become nobody. */
const NO_NETWORK = ['unshare', ...(process.getuid?.() === 0 ? [] : ['--user']), '--net'];
const NO_NEW_PRIVILEGES = ['setpriv', '--no-new-privs', '--inh-caps=-all'];

/** A program and its arguments; the guest's own command follows them. */
export type Confinement = { file: string; args: string[] };

/**
 * Finds out by trial which confinement this machine allows (containers and macOS lack some). Throws SandboxUnavailable where the
 * machine cannot start a process at the moment, which says nothing of what it allows.
 */
export async function findConfinement(): Promise<Confinement> {
  const args = ['-c', SCRIPT, 'sh'];
  for (const command of [NO_NETWORK, NO_NEW_PRIVILEGES]) {
    if (await succeeds([...args, ...command, 'true'])) args.push(...command);
  }
  return { file: '/bin/sh', args };
}

function succeeds(args: string[]): Promise<boolean> {
  return new Promise((resolve, reject) => {
    // No timeout: one slow moment of the machine would leave guests unconfined from then on. So would one in which it has no
    // memory, processes or files left.
    const tell = (error: ExecFileException | null) => {
      if (error === null || (typeof error.code !== 'string' && error.signal !== 'SIGKILL')) resolve(!error);
      else reject(new SandboxUnavailable(`No process could start: ${error.code ?? error.signal}`));
    };
    try {
      execFile('/bin/sh', args, { cwd: '/', env: {} }, tell);
    } catch (error) {
      tell(error as ExecFileException);
    }
  });
}
