// One tool of the MCP endpoint: what assistants read of it, and what it does.
import type { z } from 'zod';
import type { McpScope } from '../auth/scopes.ts';
import type { ApiDeps } from '../deps.ts';
import type { UserPrincipal } from '../http/principal.ts';
import type { Caller } from '../test-runs/caller.ts';

/** One call of a tool: who makes it, and what it works with. */
export type ToolCall = Caller & { deps: ApiDeps; user: UserPrincipal };

/** What clients may assume of a call before they make it, as MCP's tool annotations. */
type Hints = {
  readOnlyHint: boolean;
  /** Whether something that cannot be had back may be lost. */
  destructiveHint?: boolean;
  /** Whether the same call once more changes nothing. */
  idempotentHint?: boolean;
  /** Whether it reaches beyond the service, as to model providers. */
  openWorldHint?: boolean;
};

/** `run` gets what `input` has validated. A ServiceError that it throws is told to the assistant, to mend its call. */
export type McpTool<I extends z.ZodObject = z.ZodObject, O extends z.ZodObject = z.ZodObject> = {
  name: string;
  title: string;
  description: string;
  /** What the token must allow. */
  scope: McpScope;
  hints: Hints;
  input: I;
  output: O;
  run(call: ToolCall, input: z.output<I>): Promise<z.input<O>>;
};

/** Keeps the types of a tool's input and output while it is written. */
export function defineTool<I extends z.ZodObject, O extends z.ZodObject>(tool: McpTool<I, O>): McpTool {
  return tool as unknown as McpTool;
}
