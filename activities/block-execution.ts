import type { Payer } from '../db/runs/block-runs.ts';
import type { CodeLog } from '../flow/code-log.ts';
import type { Block, Json } from '../flow/definition.ts';
import type { LastAnswer } from '../flow/model-call.ts';
import type { Attachment, BlockCall } from '../flow/run.ts';
import type { ToolCallMessage, ToolChoice, ToolDefinition } from '../flow/tool-calls.ts';
import type { BlockOutput } from './attempts/serialize-output.ts';
import type { ModelUsage } from './model/ask-model.ts';
import type { ReserveAnswer } from './model/fetch-answer.ts';
import type { BlockEnd } from './record-block-end.ts';

/** A block execution as the activities are asked for it. */
export type BlockExecution = Omit<BlockCall, 'executionId'> & { callId: string };

/** A block with this run's overrides, and everything it may read. */
export type BlockInput = {
  block: Block;
  input: Json;
  message: string;
  parameters: { [key: string]: Json };
  /** The outputs of earlier steps that it reads by their names. */
  outputs: { [stepId: string]: Json };
  /** Drops the input and the outputs, and releases their permit, before work that takes long and does not need them. */
  dropInput(): void;
  /** Waits for memory for the model's answer. */
  reserveAnswer: ReserveAnswer;
  attachments: Attachment[] | undefined;
  tools?: ToolDefinition[] | undefined;
  tool_choice?: ToolChoice | undefined;
  /** The conversation with which this block continues after a pause. */
  conversation?: ToolCallMessage[] | undefined;
  payer: Payer;
  /** The model's usage so far: recorded and charged however the block ends. */
  usage: ModelUsage;
  /** The model's last answer, recorded when the block fails. */
  answers: { last?: LastAnswer };
  /** The console lines of the code, recorded however the block ends. */
  printed: { logs?: CodeLog[] };
  /** Turns of the model with bad tool calls, and their results; those of earlier attempts first. */
  turns: ToolCallMessage[];
  /** How often the model may still ask for tools. */
  roundsLeft: number;
  /** The model's answer to an earlier attempt. */
  answered: string | undefined;
  /** Keeps `turns`, an answer and the usage for later attempts; returns false when they are too long. */
  keepAnswer(text?: string): boolean;
};

/** The result that an attempt keeps for the next: the end of the block, or answers that need another one. */
export type Kept = {
  end?: BlockEnd;
  answer?: { text?: string | undefined; turns: ToolCallMessage[]; usage: ModelUsage };
};

/** Does the work of one processor type. */
export type Processor = (input: BlockInput) => Promise<BlockOutput>;
