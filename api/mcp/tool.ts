// A tool of the MCP endpoint: its description for assistants, and the function that does it.
import type { z } from 'zod';
import type { Caller } from '../auth/caller.ts';
import type { McpScope } from '../auth/scopes.ts';
import type { ApiDeps } from '../deps.ts';
import type { UserPrincipal } from '../http/principal.ts';

/** An answer has what a tool answers as text and as it is. */
export const COPIES = 2;

/**
 * One call of a tool: its caller and its dependencies. `gone` aborts when nobody waits for the answer; `goneOrStopping` also when
 * the process stops, so that whoever waits for a run is told how it stands. `endLargeWork` ends the turn that a large message has.
 * `holdAnswer` waits until an organization, or a user, may hold so many bytes until the answer is read; one that is made already is
 * held unless another was. It throws as `takeBytes` does.
 */
export type McpCall = Caller & {
  deps: ApiDeps;
  user: UserPrincipal;
  gone: AbortSignal;
  goneOrStopping: AbortSignal;
  endLargeWork: () => void;
  holdAnswer: (owner: string, bytes: number, how?: { isMade: boolean }) => Promise<void>;
};

/** MCP's tool annotations: what clients may assume of a call before they make it. */
type Hints = {
  readOnlyHint: boolean;
  /** Whether something may be lost for good. */
  destructiveHint?: boolean;
  /** Whether the same call, repeated, changes nothing more. */
  idempotentHint?: boolean;
  /** Whether the call reaches beyond the service, such as to model providers. */
  openWorldHint?: boolean;
};

/** `run` gets what `input` has validated. The assistant is told a ServiceError that it throws, to correct the call. */
export type McpTool<I extends z.ZodObject = z.ZodObject, O extends z.ZodObject = z.ZodObject> = {
  name: string;
  title: string;
  description: string;
  /** The scope that the token must have. */
  scope: McpScope;
  hints: Hints;
  input: I;
  output: O;
  run(call: McpCall, input: z.output<I>): Promise<z.input<O>>;
};

/** Defines a tool whose `run` is typed by its input and output schemas. */
export function defineTool<I extends z.ZodObject, O extends z.ZodObject>(tool: McpTool<I, O>): McpTool {
  return tool as unknown as McpTool;
}
