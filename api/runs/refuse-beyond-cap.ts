import type { ToolCallMessage } from '../../flow/tool-calls.ts';
import type { ApiDeps } from '../deps.ts';
import { HEARTBEAT } from '../http/event-stream.ts';
import { isLastRound, requirePauseAllowed } from './calls/require-iterations.ts';
import type { AcceptedCall } from './calls/store-call.ts';
import type { StepEvent } from './step-events.ts';

/** The events before a step's result. */
const BEGINNING = ['run_started', 'block_started', 'block_retrying'];

/**
 * Returns all events of a tool resume. When the model may not ask for tools again, waits for its answer first and
 * throws TOOL_ITERATION_LIMIT if it does, because an HTTP error is possible only before the stream begins. Ends the
 * events when the client has `gone`: they keep memory for the last event, and an unread stream ends nothing.
 */
export async function refuseBeyondCap(
  deps: ApiDeps,
  organizationId: string,
  run: AcceptedCall,
  events: AsyncGenerator<StepEvent>,
  gone: AbortSignal,
): Promise<AsyncGenerator<StepEvent>> {
  if (!(await isLastRound(deps, organizationId, run))) return events;
  const end = () => void events.return(undefined).catch(() => undefined);
  if (gone.aborted) end();
  else gone.addEventListener('abort', end, { once: true });
  const begun: StepEvent[] = [];
  const failure = await readBeginning(events, begun).catch((error: unknown) => ({ error }));
  const last = begun.at(-1);
  if (last && last !== HEARTBEAT && last.name === 'step_paused_for_tool_calls')
    try {
      await requirePauseAllowed(deps, run, last.data as PauseData);
    } catch (error) {
      await events.return(undefined);
      throw error;
    }
  return continueAfter(begun, failure, events);
}

type PauseData = { pausedAtStep: string; iterationsUsed: number; toolCallMessages: ToolCallMessage[] };

/** Reads events into `begun`, up to the first event with the step's result. */
async function readBeginning(events: AsyncGenerator<StepEvent>, begun: StepEvent[]): Promise<undefined> {
  for (;;) {
    const { value, done } = await events.next();
    if (done) return;
    begun.push(value);
    if (value !== HEARTBEAT && !BEGINNING.includes(value.name)) return;
  }
}

async function* continueAfter(
  begun: StepEvent[],
  failure: { error: unknown } | undefined,
  events: AsyncGenerator<StepEvent>,
): AsyncGenerator<StepEvent> {
  yield* begun;
  if (failure) throw failure.error;
  yield* events;
}
