import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../flow/errors.ts';
import { callApi } from '../api/call-api.ts';
import type { Flow } from '../api/get-by-path.ts';
import { Unreachable } from '../api/to-error.ts';
import { urlOf } from './service-flow.ts';

const POLL_MS = 500;
/** A test run outlives restarts of the service, which is asked again for this long. */
const RECONNECT_MS = 60_000;

export type TestRun = {
  test_run_id: string;
  status: string;
  total: number;
  passed: number;
  cost: number;
  results: {
    name: string;
    status: 'pending' | 'passed' | 'failed' | 'error';
    why: string | null;
    flow_run_id: string;
    ms: number | null;
    cost: number;
  }[];
};
/** `testRun` is null for a flow without test cases, and for one whose tests could not be run: `error` says why. */
export type TestedFlow = { flow: string; testRun: TestRun | null; error?: string };

/** Runs all test cases of a draft and waits for their end; null when there are none. */
export async function runTests(flow: Flow): Promise<TestRun | null> {
  const url = `${urlOf(flow)}/test-runs`;
  let run: TestRun;
  try {
    run = await callApi<TestRun>('POST', url, { body: {} });
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'CONFLICT') return null;
    throw error;
  }
  let reachable = Date.now();
  while (run.status === 'started') {
    await sleep(POLL_MS);
    try {
      run = await callApi<TestRun>('GET', `${url}/${run.test_run_id}`);
      reachable = Date.now();
    } catch (error) {
      if (!(error instanceof Unreachable) || Date.now() - reachable > RECONNECT_MS) throw error;
    }
  }
  return run;
}
