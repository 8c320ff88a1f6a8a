// A tool of the MCP endpoint: its description for assistants, the function that does it, and the schemas that tools
// share.
import type { z } from 'zod';
import type { Caller } from '../auth/caller.ts';
import type { McpScope } from '../auth/scopes.ts';
import type { ApiDeps } from '../deps.ts';
import type { UserPrincipal } from '../http/principal.ts';

/** A response has the tool's output twice, as text and as JSON. */
export const COPIES = 2;

/**
 * One call of a tool: its caller and its dependencies. `gone` aborts when the client has gone; `goneOrStopping` also
 * when the process stops, so that a tool that waits for a run can describe it. `endLargeWork` releases the permit of
 * a large message. `holdAnswer` reserves memory for an organization or user until the response is read; with `isMade`
 * it never waits. Throws as `takeBytes` does.
 */
export type McpCall = Caller & {
  deps: ApiDeps;
  user: UserPrincipal;
  gone: AbortSignal;
  goneOrStopping: AbortSignal;
  endLargeWork: () => void;
  holdAnswer: (owner: string, bytes: number, how?: { isMade: boolean }) => Promise<void>;
};

/** MCP's tool annotations: what clients may assume about a call. */
type Hints = {
  readOnlyHint: boolean;
  /** Whether the call may lose something for good. */
  destructiveHint?: boolean;
  /** Whether repeating the call changes nothing more. */
  idempotentHint?: boolean;
  /** Whether the call reaches outside the service, for example model providers. */
  openWorldHint?: boolean;
};

/**
 * `run` gets the validated input. The assistant gets the message of a ServiceError, so that it can correct the call.
 */
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
