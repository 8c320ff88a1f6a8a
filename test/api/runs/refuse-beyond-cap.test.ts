// The last tool round of a block: its answer is looked at before the stream begins, and is in hand meanwhile.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { ApiDeps } from '../../../api/deps.ts';
import { reserveEvent } from '../../../api/http/reserve-bytes.ts';
import { findAcceptedCall } from '../../../api/runs/calls/accept-idempotently.ts';
import { refuseBeyondCap } from '../../../api/runs/step.ts';
import { stepEvents } from '../../../api/runs/step-events.ts';
import { createUpdates } from '../../../api/runs/updates.ts';
import { createFlowDefinitions } from '../../../db/flows/flow-definitions.ts';
import { createRegistry } from '../../../platform/models/registry.ts';
import { answer, callTools } from '../../fakes/model-server.ts';
import { waitUntil } from '../../wait-until.ts';
import { createStepClient, only, resumeOf, type StepClient } from './step-client.ts';
import { asking, toolCall, useToolCalls, weather } from './tool-calls-harness.ts';

/** More than the buffers on the way to a reader usually hold. */
const LARGE = 'x'.repeat(4_000_000);

describe('the bytes of the answer after the last tool round', () => {
  const h = useToolCalls();
  let client: StepClient;
  let flow: string;
  before(async () => {
    client = await createStepClient(h.weir, h.tenant);
    const processor_config = { max_tool_iterations: 1 };
    flow = await h.weir.createFlow(h.tenant, [asking('ask', 'x', { processor_config }), asking('next')]);
  });

  /** Pauses a session; answers the request that resumes it, after which the model may not ask for tools again. */
  async function pause(): Promise<object> {
    h.models.will(callTools([toolCall('c1')]));
    const call = { stepIndex: 0, message: 'm', tools: [weather] };
    const events = await client.step(flow, call);
    const { executionId } = only(events, 'run_started');
    const { message: _, ...again } = call;
    h.models.will(answer(LARGE));
    return resumeOf({ ...again, executionId }, events);
  }

  it('are given back when a reader hangs up who has not read all of it', async () => {
    const body = JSON.stringify(await pause());
    const { hostname, port } = new URL(h.weir.url);
    const socket = connect(Number(port), hostname).pause();
    await once(socket, 'connect');
    socket.write(
      `POST /api/v1/seq/${flow}/step HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${h.tenant.key}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    // Looked at all the while: the buffers of some systems take the whole answer at once.
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, h.weir.httpGates.answers.count().weight);
    });
    await once(socket, 'readable').finally(() => clearInterval(watch));
    assert.match(String(socket.read()), /^HTTP\/1\.1 200 /);
    assert(most >= LARGE.length, String(most));
    socket.destroy();
    await waitUntil(() => h.weir.httpGates.answers.count().weight === 0);
  });

  it('are given back when a reader hangs up before the stream begins', async () => {
    const events = await client.step(flow, await pause());
    const [callId = ''] = events.at(-1)?.id.split(':') ?? [];
    const deps = {
      ...h.weir,
      gates: h.weir.httpGates,
      definitions: createFlowDefinitions(h.weir.db),
      registry: createRegistry(),
    } as never as ApiDeps;
    const run = await findAcceptedCall(deps, callId);
    assert(run?.outcome);
    const { organizationId } = h.tenant;
    const gone = new AbortController();
    const { signal } = new AbortController();
    const told = stepEvents(deps, createUpdates(h.weir.db), run, Promise.resolve(run.outcome), {
      organizationId,
      mayRead: async () => true,
      reserve: (bytes) => reserveEvent(deps, organizationId, bytes, signal),
      signal,
    });
    await refuseBeyondCap(deps, organizationId, run, told, gone.signal);
    assert(h.weir.httpGates.answers.count().weight >= LARGE.length);
    gone.abort();
    await waitUntil(() => h.weir.httpGates.answers.count().weight === 0);
  });
});
