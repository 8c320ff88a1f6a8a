// The MCP server of one request (docs/mcp.md), with all tools, and the endpoint's last handler.
import { type CallToolResult, McpServer, type ScopeChallengeHandler } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { ServiceError } from '../../flow/errors.ts';
import { addToLogContext } from '../../platform/observability/log-context.ts';
import { MCP_SCOPES, type McpScope } from '../auth/scopes.ts';
import { describeIssue } from '../http/describe-issue.ts';
import { dropNulls } from '../http/drop-nulls.ts';
import { validationError } from '../http/json-body.ts';
import { toServiceError } from '../http/to-service-error.ts';
import { PerhapsStored } from '../runs/calls/store-call.ts';
import { VERSION } from '../version.ts';
import { listedInput, listedOutput } from './listed-schema.ts';
import { COPIES, type McpCall, type McpTool } from './tool.ts';
import { MCP_TOOLS } from './tools.ts';

const INSTRUCTIONS = `Weir hosts flows: trees of blocks (llm, code, passthrough) that callers run over HTTP.
Begin with list_projects, then hydrate_project; list_models names the models that work. You edit the draft of a flow (add_block, update_block, …);
callers run your changes only after publish_version and set_production_version. Test the draft first: create_test_case,
run_all_tests. The answer to each edit lists under "problems" what is still missing in the draft.`;

/** The schemas of `tools/list`, made once. `answerCall` validates inputs itself, with better errors. */
const LISTED = new Map(
  MCP_TOOLS.map((tool) => [
    tool,
    { inputSchema: listedInput(tool.input), outputSchema: listedOutput(tool.output) },
  ]),
);

/** Creates a server that answers one request of `call.user`. */
export function createMcpServer(call: McpCall): McpServer {
  const server = new McpServer(
    { name: 'weir', title: 'Weir', version: VERSION },
    { instructions: INSTRUCTIONS, capabilities: { tools: { listChanged: false } } },
  );
  for (const tool of MCP_TOOLS) {
    const { name, title, description, scope, hints } = tool;
    const annotations = { openWorldHint: false, ...hints };
    server.registerTool(
      name,
      { title, description, annotations, ...LISTED.get(tool), scopeChallenge: needScope(scope) },
      (input) => answerCall(tool, call, input),
    );
  }
  return server;
}

/** Requests the token's scopes and the missing one, so that the new token can do what the old one could. */
function needScope(needed: McpScope): ScopeChallengeHandler {
  return ({ authInfo }) => {
    const held = authInfo?.scopes ?? [];
    if (held.includes(needed)) return undefined;
    const scopes = MCP_SCOPES.filter((scope) => scope === needed || held.includes(scope));
    return {
      scopes: scopes as [McpScope, ...McpScope[]],
      errorDescription: `This tool needs the scope ${needed}`,
    };
  };
}

async function answerCall(tool: McpTool, call: McpCall, input: unknown): Promise<CallToolResult> {
  addToLogContext({ tool: tool.name });
  try {
    dropNulls(tool.input, input);
    const parsed = tool.input.safeParse(input ?? {}, { reportInput: false, error: sayHowToCorrect });
    if (!parsed.success) throw wrongInput(parsed.error, tool);
    // The tool may wait for a run, or acquire permits of its own.
    call.endLargeWork();
    const output = await tool.run(call, parsed.data);
    const text = JSON.stringify(output);
    // A completed write is always answered, whatever is queued.
    if (tool.hints.readOnlyHint)
      await call.holdAnswer(call.user.userId, COPIES * text.length, { isMade: true });
    return { content: [{ type: 'text', text }], structuredContent: output };
  } catch (error) {
    return { content: [{ type: 'text', text: describe(error, tool, call) }], isError: true };
  }
}

/** Words problems so that an assistant can correct its call: for an id, names the tool that returns such ids. */
function sayHowToCorrect(issue: z.core.$ZodRawIssue): string | undefined {
  const { code, input, inst } = issue;
  if (code === 'unrecognized_keys' && inst instanceof z.ZodObject) return Object.keys(inst.shape).join(', ');
  if (input === undefined || !(inst instanceof z.ZodGUID)) return describeIssue(issue);
  const source = z.globalRegistry.get(inst)?.description;
  return source ? `is not a valid id; send: ${source}` : 'is not a valid id';
}

function wrongInput(error: z.ZodError, { name }: McpTool): ServiceError {
  const known = error.issues
    .filter(({ code }) => code === 'unrecognized_keys')
    .map(({ path, message }) => `; ${path.join('.') || name} takes ${message}`);
  return new ServiceError('VALIDATION_ERROR', validationError(error).message + known.join(''));
}

function describe(error: unknown, tool: McpTool, { author: { requestId } }: McpCall): string {
  const mayWrite = !tool.hints.readOnlyHint;
  const mayBeStored = error instanceof PerhapsStored;
  const { code, message } = toServiceError(mayBeStored ? error.cause : error, {
    requestId,
    fields: { tool: tool.name },
    mayWrite,
    mayBeStored,
  });
  addToLogContext({ code });
  const reference = code === 'INTERNAL_ERROR' ? ` Operators find it as request ${requestId}.` : '';
  return `${code}: ${message}${reference}`;
}
