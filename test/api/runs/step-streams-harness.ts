// Calls of /step whose events a test reads one by one.

import { llm, passthrough } from '../../blocks.ts';
import { answer, type FakeModelServer, hang } from '../../fakes/model-server.ts';
import type { Tenant, Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import type { SseMessage } from '../../sse.ts';
import { createStepClient, only, type StepClient } from './step-client.ts';

/** A call that runs all steps of a flow. */
export const WHOLE = { stepIndex: 0, message: 'm', runRemaining: true };

export type StepStreams = {
  weir: Weir;
  tenant: Tenant;
  models: FakeModelServer;
  client: StepClient;
  /** Reads a path below /api/v1/seq; answers its body. */
  get(path: string): Promise<Awaited<ReturnType<Weir['call']>>['body']>;
  /** Opens a session whose second step, of three, waits in its model until `release`. */
  stepUntilRelease(more?: object): Promise<HeldStep>;
  stop(): Promise<void>;
};

type HeldStep = {
  flow: string;
  /** The path of the run, below /api/v1/seq. */
  path: string;
  executionId: string;
  /** The body of the call that is held. */
  call: object;
  response: Response;
  /** Ends the reading of `response`. */
  leaving: AbortController;
  release(): void;
};

export async function startStepStreams(): Promise<StepStreams> {
  const weir = await getSharedWeir();
  const { models } = weir;
  const tenant = await weir.createTenant();
  const client = await createStepClient(weir, tenant);
  return {
    weir,
    tenant,
    models,
    client,
    get: async (path) => (await weir.call('GET', path, { key: tenant.key })).body,
    async stepUntilRelease(more = {}) {
      const steps = [passthrough('a'), llm('b', 'x', 'demo/chat'), passthrough('c')];
      const flow = await weir.createFlow(tenant, steps);
      const { executionId } = only(await client.step(flow, { stepIndex: 0, message: 'm' }), 'run_started');
      const call = { executionId, stepIndex: 1, accumulatedOutputs: { a: 'm' }, ...more };
      models.will(hang);
      const asked = models.nextCall();
      const leaving = new AbortController();
      const response = await client.open(flow, call, { signal: leaving.signal });
      const model = await asked;
      const path = `${flow}/jobs/${executionId}`;
      return { flow, path, executionId, call, response, leaving, release: () => answer('done')(model) };
    },
    async stop() {
      await weir.stop();
    },
  };
}

/** Reads the rest of a stream. */
export async function readRest(events: AsyncGenerator<SseMessage>): Promise<SseMessage[]> {
  const rest: SseMessage[] = [];
  for await (const event of events) rest.push(event);
  return rest;
}
