// The MCP server of one request (docs/mcp.md), with all tools, and the endpoint's last handler.

import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import {
  type CallToolResult,
  createMcpHandler,
  INVALID_PARAMS,
  isJSONRPCRequest,
  McpServer,
  PROTOCOL_VERSION_META_KEY,
  type ScopeChallengeHandler,
  specTypeSchemas,
} from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { addToLogContext } from '../../platform/observability/log.ts';
import { VERSION } from '../../platform/version.ts';
import { toCaller } from '../auth/caller.ts';
import { MCP_SCOPES, type McpScope } from '../auth/scopes.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiContext, ApiMiddleware } from '../http/context.ts';
import { toServiceError } from '../http/errors.ts';
import { PARSE_OPTIONS, validationError } from '../http/json-body.ts';
import { readerSignal } from '../http/reader-signal.ts';
import { reserveAnswer, reserveMadeAnswer } from '../http/reserve-bytes.ts';
import { PerhapsStored } from '../runs/calls/store-call.ts';
import { blockTools } from './block-tools.ts';
import { forLineReaders } from './event-stream.ts';
import { flowTools } from './flow-tools.ts';
import { listedInput, listedOutput } from './listed-schemas.ts';
import { parseToolInput } from './parse-tool-input.ts';
import { modelTools, projectTools } from './project-tools.ts';
import { repeatRunTools } from './repeat-run-tools.ts';
import { resourceMetadataUrl } from './resource-metadata.ts';
import { runTools } from './run-tools.ts';
import { testTools } from './test-tools.ts';
import { COPIES, type McpCall, type McpTool } from './tool.ts';
import { versionTools } from './version-tools.ts';

/** The methods for which the SDK answers wrong parameters with an internal error. */
const PARAMS = new Map<string, unknown>([
  ['initialize', specTypeSchemas.InitializeRequestParams],
  ['tools/list', specTypeSchemas.PaginatedRequestParams],
]);

const MCP_TOOLS: McpTool[] = [
  ...projectTools,
  ...modelTools,
  ...flowTools,
  ...blockTools,
  ...versionTools,
  ...testTools,
  ...runTools,
  ...repeatRunTools,
];

const INSTRUCTIONS = `Weir hosts flows: trees of blocks (llm, code, passthrough) that callers run over HTTP.
Begin with list_projects, then hydrate_project; list_models names the models that work. You write the draft of a flow (write_draft), or edit it (edit_draft, add_block, …);
callers run your changes only after publish_version and set_production_version. Test the draft first: create_test_case,
run_all_tests. Each edit answers what is left to do under "problems", and what works badly under "notes".`;

/** The schemas of `tools/list`, made once. `answerCall` validates inputs itself, with better errors. */
const LISTED = new Map(
  MCP_TOOLS.map((tool) => [
    tool,
    { inputSchema: listedInput(tool.input), outputSchema: listedOutput(tool.output) },
  ]),
);

/** Creates a server that answers one request of `call.user`. */
function createMcpServer(call: McpCall): McpServer {
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
    const output = await tool.run(call, parseToolInput(tool.input, input, tool.name));
    const text = JSON.stringify(output);
    // A completed write is always answered, whatever is queued.
    if (tool.hints.readOnlyHint)
      await call.reserveAnswer(call.user.userId, COPIES * text.length, { isMade: true });
    return { content: [{ type: 'text', text }], structuredContent: output };
  } catch (error) {
    return { content: [{ type: 'text', text: describe(error, tool, call) }], isError: true };
  }
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

/** Answers the message in `ctx.state.body` for the user of its token. */
export function callTools(deps: ApiDeps): ApiMiddleware {
  const { url } = deps.config.mcp;
  // The tools are constant while the process runs: a subscription is acknowledged and never gets a notification.
  const handler = createMcpHandler(({ authInfo }) =>
    createMcpServer({ deps, ...(authInfo?.extra as Omit<McpCall, 'deps'>) }),
  );
  return async function callTools(ctx) {
    const wrong = findWrongParams(ctx.state.body);
    if (wrong) {
      const error = { code: INVALID_PARAMS, message: wrong.problem };
      ctx.body = { jsonrpc: '2.0', id: wrong.id, error };
      return;
    }
    const { user, requestId } = ctx.state;
    // A stopping process still finishes requests in flight.
    const gone = readerSignal(ctx.res);
    const goneOrStopping = readerSignal(ctx.res, deps.stopping);
    const reserve: McpCall['reserveAnswer'] = (key, bytes, { isMade } = { isMade: false }) =>
      (isMade ? reserveMadeAnswer : reserveAnswer)(deps, ctx, key, bytes);
    const response = await handler.fetch(
      new Request(url, { method: 'POST', headers: mcpHeaders(ctx.headers), signal: gone }),
      {
        parsedBody: ctx.state.body,
        authInfo: {
          token: '',
          clientId: '',
          scopes: user.scopes,
          resourceMetadataUrl: resourceMetadataUrl(deps.config.mcp, ctx),
          extra: {
            user,
            gone,
            goneOrStopping,
            reserveAnswer: reserve,
            releaseRequest: () => ctx.state.releaseRequest?.(),
            ...toCaller({ principal: user, requestId }),
          } satisfies Omit<McpCall, 'deps'>,
        },
      },
    );
    if (response.status === 500) throw new Error(`The MCP handler failed: ${await response.text()}`);
    // The HTTP server decides whether the connection stays open: a stopping process closes it.
    response.headers.delete('connection');
    for (const [name, value] of response.headers) ctx.set(name, value);
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
    const answered = response.body && (isStream ? forLineReaders(response.body) : response.body);
    ctx.body = answered && Readable.fromWeb(answered as ReadableStream);
    ctx.status = response.status;
  };
}

/** Selects the headers that the protocol reads. */
function mcpHeaders(sent: ApiContext['headers']): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(sent))
    if (/^(accept|content-type|mcp-.*)$/.test(name) && typeof value === 'string') headers.set(name, value);
  return headers;
}

/** Finds problems with the parameters of a request; undefined when the SDK can answer it. */
function findWrongParams(message: unknown): { id: string | number; problem: string } | undefined {
  if (!isJSONRPCRequest(message)) return undefined;
  const { id, method, params = {} } = message;
  // The current revision has no initialize.
  if (method === 'initialize' && params._meta && PROTOCOL_VERSION_META_KEY in params._meta) return undefined;
  const schema = PARAMS.get(method) as z.ZodType | undefined;
  const error = schema?.safeParse(params, PARSE_OPTIONS).error;
  return error && { id, problem: validationError(error).message };
}
