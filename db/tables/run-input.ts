import type { Json } from '../../flow/definition.ts';
import type { BlockOverrides } from '../../flow/overrides.ts';
import type { Attachment } from '../../flow/run.ts';
import type { PausePoint, ToolCallMessage, ToolChoice, ToolDefinition } from '../../flow/tool-calls.ts';

/** The request for a run, as stored in `run.input`. */
export type StoredRunInput = {
  message: string;
  parameters: { [key: string]: Json };
  block_overrides: BlockOverrides;
  attachments?: Attachment[];
  /** Outputs by step_id, in place of running these blocks. Only of drafts. */
  pinned_outputs?: { [stepId: string]: Json } | undefined;
  /** Maximum cost of the run, in credits. */
  max_credits?: number | undefined;
  tools?: ToolDefinition[] | undefined;
  tool_choice?: ToolChoice | undefined;
  continuation?: Continuation | undefined;
  /** Calls of earlier attempts, newest first: blocks of the first step that they completed have their outputs. */
  reuses?: string[] | undefined;
};

/** The values that a caller sent from one call of a run to the next. */
export type Continuation = {
  /** The input of the first step, unless it is the message. */
  input?: Json | undefined;
  /** The first step's index in the plan. */
  from?: number | undefined;
  /** The outputs of the earlier steps, some of which this call may replace. */
  outputs: { [stepId: string]: Json };
  replaced?: { [stepId: string]: Json } | undefined;
  /** How the paused step continues. */
  resume?: Resume | undefined;
};

/** The conversation with which a paused step continues, and the model that paused. */
type Resume = Pick<PausePoint, 'step_id' | 'iterations' | 'model'> & { messages: ToolCallMessage[] };
