import { isOutage } from '../../api/api-error.ts';
import type { FollowOptions } from '../../api/follow-options.ts';
import type { components } from '../../api/schema.d.ts';
import {
  applyRunEvent,
  applyRunState,
  applyStepEvent,
  applyTotals,
  isLastRunEvent,
  isLastStepEvent,
} from './apply-event.ts';
import type { ParsedInput } from './try-input.ts';
import { beginRun, isUnderWay, type PlanStep, type TryRun } from './try-run.ts';

type Schemas = components['schemas'];

/** The requests of the service for the runs of one flow; version 0 is the draft. */
export type TryServer = {
  /** Starts a job, for the draft with this ETag. Returns its executionId. */
  startJob(version: number, request: object, etag: string): Promise<string>;
  /** Reads the state of a run, with result and receipt. */
  readJob(executionId: string): Promise<Schemas['JobState']>;
  /** Cancels a run. Costs so far stay charged. */
  cancelJob(executionId: string): Promise<void>;
  /** Reads the request with which a session continues a stored run from a step. */
  readFork(executionId: string, step: number): Promise<Schemas['StepCursor']>;
  /** Reads the top-level steps of a stored run. */
  readPlan(executionId: string): Promise<PlanStep[]>;
  followJob(executionId: string, options: FollowOptions): Promise<void>;
  /** Sends one call of a session and follows its events. */
  followStep(version: number, body: object, options: FollowOptions): Promise<void>;
};

/** Events are shown in batches: a loop can send hundreds a second. */
const NOTIFY_INTERVAL_MS = 100;
const GIVEN_UP_MESSAGE =
  'No response came, so the run may have started. If it has, the list of runs shows it.';

/** The run that is tried on the pages of one flow. It continues while another page of the console is open. */
export class TryStore {
  readonly #server: TryServer;
  readonly #listeners = new Set<() => void>();
  #run: TryRun | undefined;
  #input: ParsedInput = { message: '' };
  /** The overrides of a run that was forked. */
  #overrides: object = {};
  #abort = new AbortController();
  /** The timer of the next notification of listeners. */
  #notifyTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(server: TryServer) {
    this.#server = server;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  run = (): TryRun | undefined => this.#run;

  /**
   * Starts a run, of the draft with this ETag. With tools, or step by step, it is a session of `/step`; otherwise a
   * job.
   */
  async start(version: number, mode: TryRun['mode'], input: ParsedInput, etag = ''): Promise<void> {
    this.#begin(beginRun(version, mode, Date.now()), input);
    if (mode === 'steps' || input.tools) return this.#call(0, { runRemaining: mode === 'whole' });
    const { signal } = this.#abort;
    try {
      const executionId = await this.#server.startJob(version, input, etag);
      if (signal.aborted) return;
      this.#set({ executionId, status: 'running' });
      await this.#follow(executionId, signal);
    } catch (error) {
      if (signal.aborted || !this.#run) return;
      // A run that has ended according to its events did not fail because its result cannot be read.
      const { status } = this.#run;
      this.#refuse(error, !isUnderWay(this.#run) ? status : isOutage(error) ? 'unknown' : 'failed');
    }
  }

  /** Runs the step with this index with the current outputs; with `runRemaining` also all steps after it. */
  step(index: number, options: { runRemaining?: boolean } = {}): Promise<void> {
    return this.#call(index, options);
  }

  /** Sends the results of the pending tool calls. */
  answer(results: { tool_call_id: string; content: string }[]): Promise<void> {
    const run = this.#run;
    if (!run?.pause) return Promise.resolve();
    const { stepIndex, iterationsUsed, toolCallMessages, accumulatedOutputs, resumeState } = run.pause;
    const messages = results.map((result) => ({ role: 'tool', ...result }));
    return this.#call(stepIndex, {
      ...{ iterationsUsed, accumulatedOutputs, resumeState, runRemaining: run.mode === 'whole' },
      toolCallMessages: [...toolCallMessages, ...messages],
    });
  }

  /** Keeps a tool result while it is typed, because the call may be refused. */
  typeResult(callId: string, text: string): void {
    if (this.#run) this.#set({ typedResults: { ...this.#run.typedResults, [callId]: text } });
  }

  /** Replaces the output of a step for the following steps. */
  setOutput(stepId: string, output: unknown): void {
    if (this.#run) this.#set({ outputs: { ...this.#run.outputs, [stepId]: output } });
  }

  /** Makes another step of the session the next one. */
  goTo(index: number): void {
    this.#set({
      nextIndex: index,
      status: 'waiting',
      pause: undefined,
      failure: undefined,
      refused: undefined,
    });
  }

  /**
   * Starts a session with the outputs of a stored run, at a step. A run of the draft continues with `draft`, the draft
   * as it is now.
   */
  async fork(executionId: string, step: number, draft: TryRun['plan']): Promise<ParsedInput> {
    const [cursor, stored] = await Promise.all([
      this.#server.readFork(executionId, step),
      this.#server.readPlan(executionId),
    ]);
    const { version, accumulatedOutputs, blockOverrides, ...started } = cursor;
    const { message, parameters, attachments, tools, toolChoice } = started;
    const plan = version === 0 ? draft : stored;
    if (!plan[step]) throw new Error('The draft has no step at this place any more.');
    const input = {
      ...{ message, parameters },
      ...(attachments && { attachments }),
      ...(tools && { tools }),
      ...(toolChoice !== undefined && { toolChoice }),
    } as ParsedInput;
    const begun = beginRun(version, 'steps', Date.now());
    this.#begin({ ...begun, status: 'waiting', outputs: accumulatedOutputs, nextIndex: step, plan }, input);
    this.#overrides = blockOverrides ? { blockOverrides } : {};
    return input;
  }

  /**
   * Cancels the run. A run that is still being sent is cancelled once it is accepted, and given up when the service is
   * unreachable.
   */
  async cancel(): Promise<void> {
    const before = this.#run;
    if (before && !before.executionId && !isUnderWay(before)) return this.clear();
    const run = await this.#answered();
    if (run?.isReconnecting && !run.executionId) {
      this.#abort.abort();
      return this.#refuse(new Error(GIVEN_UP_MESSAGE), 'unknown');
    }
    if (!run?.executionId) return;
    await this.#server.cancelJob(run.executionId);
    // A run that is not under way sends no event about its cancellation.
    if (!isUnderWay(run)) this.#set({ status: 'cancelled', pause: undefined, nextIndex: undefined });
  }

  /** Forgets the run, which continues if it has started. */
  clear(): void {
    this.#abort.abort();
    this.#run = undefined;
    this.#notify();
  }

  /**
   * Waits until the service has accepted or refused the run, or has not responded; undefined when another run has
   * replaced it.
   */
  #answered(): Promise<TryRun | undefined> {
    const { signal } = this.#abort;
    return new Promise((resolve) => {
      const look = () => {
        const run = signal.aborted ? undefined : this.#run;
        if (run && !run.executionId && !run.isReconnecting && isUnderWay(run)) return;
        stop();
        resolve(run);
      };
      const stop = this.subscribe(look);
      look();
    });
  }

  async #follow(executionId: string, signal: AbortSignal): Promise<void> {
    await this.#server.followJob(executionId, {
      ...{ isLast: isLastRunEvent, signal },
      onEvent: (event) =>
        this.#apply(signal, (run) => ({ ...applyRunEvent(run, event), isReconnecting: false })),
      onInterrupted: async () => {
        this.#apply(signal, (run) => ({ ...run, isReconnecting: true }));
        return (await this.#server.readJob(executionId)).status !== 'started';
      },
    });
    if (signal.aborted) return;
    const state = await this.#server.readJob(executionId);
    this.#apply(signal, (run) => ({ ...applyRunState(run, state), isReconnecting: false }));
  }

  /** Sends one call of the session and follows its events. */
  async #call(stepIndex: number, more: object): Promise<void> {
    const before = this.#run;
    if (!before) return;
    this.#abort.abort();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    const isFirst = before.executionId === undefined;
    const { message, tools, toolChoice, ...once } = this.#input;
    const body = {
      ...{ executionId: before.executionId ?? null, stepIndex },
      ...((isFirst || (stepIndex === 0 && !('toolCallMessages' in more))) && { message }),
      ...(isFirst && once),
      ...(stepIndex > 0 && { accumulatedOutputs: before.outputs }),
      ...(tools && { tools }),
      ...(toolChoice !== undefined && { toolChoice }),
      ...this.#overrides,
      ...more,
    };
    this.#set({
      status: 'running',
      pause: undefined,
      failure: undefined,
      refused: undefined,
      nextIndex: stepIndex,
    });
    try {
      await this.#server.followStep(before.version, body, {
        isLast: isLastStepEvent,
        signal,
        onEvent: (event) =>
          this.#apply(signal, (run) => ({ ...applyStepEvent(run, event), isReconnecting: false })),
        onInterrupted: async () => {
          this.#apply(signal, (run) => ({ ...run, isReconnecting: true }));
          return false;
        },
        onNamed: (executionId) => this.#apply(signal, (run) => ({ ...run, executionId })),
      });
      this.#apply(signal, (run) => ({ ...run, durationMs: Date.now() - run.startedAt }));
      // The events of a pause have no receipt.
      const executionId = this.#run?.executionId;
      if (!executionId) return;
      const state = await this.#server.readJob(executionId).catch(() => undefined);
      if (state) this.#apply(signal, (run) => applyTotals(run, state));
    } catch (error) {
      if (signal.aborted) return;
      this.#set({ pause: before.pause });
      this.#refuse(error, !isFirst ? before.status : isOutage(error) ? 'unknown' : 'failed');
    }
  }

  #begin(run: TryRun, input: ParsedInput): void {
    this.#abort.abort();
    this.#abort = new AbortController();
    this.#input = input;
    this.#overrides = {};
    this.#run = run;
    this.#notify();
  }

  #refuse(error: unknown, status: TryRun['status']): void {
    this.#set({
      status,
      isReconnecting: false,
      refused: error instanceof Error ? error : new Error(String(error)),
    });
  }

  #apply(signal: AbortSignal, change: (run: TryRun) => TryRun): void {
    if (signal.aborted || !this.#run) return;
    this.#run = change(this.#run);
    this.#notifyTimer ??= setTimeout(() => this.#notify(), NOTIFY_INTERVAL_MS);
  }

  #set(changed: Partial<TryRun>): void {
    if (!this.#run) return;
    this.#run = { ...this.#run, ...changed };
    this.#notify();
  }

  #notify(): void {
    clearTimeout(this.#notifyTimer);
    this.#notifyTimer = undefined;
    for (const listener of this.#listeners) listener();
  }
}
