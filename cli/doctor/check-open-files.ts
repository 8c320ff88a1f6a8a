import { countOpenAtMost } from '../../api/http/open-requests.ts';
import type { Config } from '../../platform/config/config.ts';
import { describeFewOpenFiles, MORE_OPEN_FILES } from '../../platform/process/few-open-files.ts';
import { ok, type Result, warning } from './finding.ts';

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
