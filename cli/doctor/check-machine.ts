import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Confinement, findConfinement } from '../../activities/code/confinement.ts';
import { countOpenAtMost } from '../../api/http/open-requests.ts';
import type { Config } from '../../platform/config/config.ts';
import { describeFewOpenFiles, MORE_OPEN_FILES } from '../../platform/process/few-open-files.ts';
import { describe, failure, ok, type Result, warning } from './finding.ts';

const NOTICED_MS = 5_000;

/** Tokens and signatures are refused by some when clocks differ by so much. */
const REFUSED_MS = 60_000;

const SHORT_BYTES = 2 * 1024 ** 3;
const OUT_BYTES = 200 * 1024 ** 2;

/** Looks whether there is room in the folders that the service writes to. */
export async function checkDisk(stateFolder: string | undefined): Promise<Result[]> {
  const results: Result[] = [];
  for (const folder of [tmpdir(), ...(stateFolder === undefined ? [] : [stateFolder])])
    try {
      const { bavail, bsize } = await statfs(folder);
      await rm(await mkdtemp(path.join(folder, 'weir-doctor-')), { recursive: true });
      results.push(describeRoom(folder, bavail * bsize));
    } catch (error) {
      results.push(
        failure(
          `${folder} cannot be written: ${describe(error)}.`,
          'Let the user of the service write there, or set TMPDIR or WEIR_STATE_DIR.',
        ),
      );
    }
  return results;
}

/** Describes how much room a folder has. */
export function describeRoom(folder: string, freeBytes: number): Result {
  const room = `${folder} has ${(freeBytes / 1024 ** 3).toFixed(1)} GB free.`;
  if (freeBytes < OUT_BYTES) return failure(room, 'Free or add disk space.');
  return freeBytes < SHORT_BYTES ? warning(room, 'Free or add disk space soon.') : ok(room);
}

/** Looks whether user code can be confined here, as this user. */
export async function checkSandbox(): Promise<Result[]> {
  return describeConfinement(await findConfinement());
}

/** Describes what the command that starts processes of user code takes from them here. */
export function describeConfinement({ args }: Confinement): Result[] {
  const missing = [
    ...(args.includes('--net')
      ? []
      : ['their network taken away (unshare: allow unprivileged user namespaces)']),
    ...(args.includes('--no-new-privs') ? [] : ['new privileges denied (setpriv of util-linux)']),
  ];
  if (missing.length === 0) return [ok('Processes of user code have no network and get no privileges.')];
  return [
    warning(
      `Processes of user code cannot have ${missing.join(', nor ')}. The WebAssembly machine around the code remains.`,
      'Install util-linux, and allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, or the container’s seccomp profile), or deny egress from outside.',
    ),
  ];
}

/** Looks whether an API and a worker in one process may open as many files here as their limits need. */
export async function checkOpenFiles(config: Config): Promise<Result[]> {
  const few = await describeFewOpenFiles(config, {
    requests: countOpenAtMost(config.openRequestsMax),
    worker: config.workerRoles,
  });
  return [
    few ? warning(`${few}.`, MORE_OPEN_FILES) : ok('A process may have enough files and connections open.'),
  ];
}

/** Compares a clock that was just read, which took `takenMs`, with that of this machine; finds nothing where they agree. */
export function checkClock(whose: string, at: Date, takenMs: number): Result[] {
  const apart = Math.abs(Date.now() - takenMs / 2 - at.getTime());
  if (apart < NOTICED_MS + takenMs) return [];
  const message = `The clock of this machine and that of ${whose} are ${Math.round(apart / 1_000)} s apart.`;
  const mend = 'Have both synchronized by NTP (chrony, systemd-timesyncd).';
  return [apart >= REFUSED_MS ? failure(message, mend) : warning(message, mend)];
}
