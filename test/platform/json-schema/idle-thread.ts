// A validator thread that gets no processor: past its deadline, with all its processor time left. It answers the value "late"
// after a while and others never.
import { parentPort, workerData } from 'node:worker_threads';
import { VALIDATING } from '../../../platform/json-schema/limits.ts';
import type { ThreadRequest } from '../../../platform/json-schema/thread.ts';

const PAST_NS = 60_000_000_000n;
const PLENTY_US = 10n ** 12n;
const ANSWER_AFTER_MS = 500;

const limits = new BigInt64Array(workerData as SharedArrayBuffer);

parentPort?.on('message', ({ value }: ThreadRequest) => {
  Atomics.store(limits, 2, VALIDATING);
  Atomics.store(limits, 1, PLENTY_US);
  Atomics.store(limits, 0, process.hrtime.bigint() - PAST_NS);
  if (value === '"late"') setTimeout(() => parentPort?.postMessage({ problems: [] }), ANSWER_AFTER_MS);
});
