// Jobs that a test follows as Server-Sent Events.
import type { Step } from '../../../flow/definition.ts';
import { llm, passthrough } from '../../blocks.ts';
import { answer } from '../../fakes/model-server.ts';
import type { Answer } from '../../harness.ts';
import { readEvents, type SseEvent } from '../../sse.ts';
import { type JobsWeir, startJobsWeir } from './jobs-harness.ts';

export type EventsWeir = JobsWeir & {
  /** Runs a job to its end; `body` is what `GET …/jobs/{executionId}` answers. */
  run(steps: Step[]): Promise<{ flow: string; executionId: string; body: Answer['body'] }>;
  /** A job that has run `first`, waits in `second` until `release`, and then runs `third`. */
  runUntilRelease(): Promise<{ flow: string; executionId: string; release(): void }>;
  open(
    flow: string,
    executionId: string,
    lastEventId?: number | string,
    signal?: AbortSignal,
  ): Promise<Response>;
  /** The events up to the end of the stream. */
  list(flow: string, executionId: string, lastEventId?: number): Promise<SseEvent[]>;
};

export async function startEventsWeir(): Promise<EventsWeir> {
  const weir = await startJobsWeir();
  const { key } = weir.tenant;
  const open: EventsWeir['open'] = (flow, executionId, lastEventId, signal) =>
    fetch(`${weir.url}/api/v1/seq/${flow}/jobs/${executionId}/events`, {
      headers: {
        authorization: `Bearer ${key}`,
        ...(lastEventId !== undefined && { 'last-event-id': String(lastEventId) }),
      },
      signal: signal ?? null,
    });
  return {
    ...weir,
    open,
    async run(steps) {
      const flow = await weir.createFlow(weir.tenant, steps);
      const executionId = await weir.start(flow);
      return { flow, executionId, body: (await weir.finish(flow, executionId, key)).body };
    },
    async runUntilRelease() {
      const steps = [passthrough('first'), llm('second', 'x', 'demo/chat'), passthrough('third')];
      const flow = await weir.createFlow(weir.tenant, steps);
      const { executionId, response } = await weir.startHeld(flow);
      return { flow, executionId, release: () => answer('done')(response) };
    },
    async list(flow, executionId, lastEventId) {
      const events: SseEvent[] = [];
      for await (const event of readEvents(await open(flow, executionId, lastEventId))) events.push(event);
      return events;
    },
  };
}
