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
import { z } from 'zod';
import { ServiceError } from '../../flow/errors.ts';
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
import { describeIssue, dropNulls } from '../http/zod-input.ts';
import { PerhapsStored } from '../runs/calls/store-call.ts';
import { blockTools } from './block-tools.ts';
import { flowTools } from './flow-tools.ts';
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

type Schema = { [key: string]: unknown };

/** The description of `parsedJson`. An empty schema says the same. */
const ANY_VALUE = 'Any JSON value.';

const INSTRUCTIONS = `Weir hosts flows: trees of blocks (llm, code, passthrough) that callers run over HTTP.
Begin with list_projects, then hydrate_project; list_models names the models that work. You edit the draft of a flow (add_block, update_block, …);
callers run your changes only after publish_version and set_production_version. Test the draft first: create_test_case,
run_all_tests. The answer to each edit lists the remaining problems of the draft under "problems".`;

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
    dropNulls(tool.input, input);
    const parsed = tool.input.safeParse(input ?? {}, { reportInput: false, error: sayHowToCorrect });
    if (!parsed.success) throw wrongInput(parsed.error, tool);
    const output = await tool.run(call, parsed.data);
    const text = JSON.stringify(output);
    // A completed write is always answered, whatever is queued.
    if (tool.hints.readOnlyHint)
      await call.reserveAnswer(call.user.userId, COPIES * text.length, { isMade: true });
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

/** Wraps the schema of a tool's input so that the SDK lists it but does not validate with it. */
function listedInput(schema: z.ZodObject) {
  return listed(() => shorten(schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' })) as Schema);
}

/** Wraps the schema of a tool's output, of which only field names and types are listed. */
function listedOutput(schema: z.ZodObject) {
  return listed(() => {
    const { properties = {} } = shorten(
      schema['~standard'].jsonSchema.output({ target: 'draft-2020-12' }),
    ) as { properties?: { [name: string]: Schema } };
    const fields = Object.entries(properties).map(([name, { type }]) => [
      name,
      type === undefined ? {} : { type },
    ]);
    return { type: 'object', properties: Object.fromEntries(fields) };
  });
}

function listed(make: () => Schema) {
  let made: Schema | undefined;
  const schema = () => {
    made ??= make();
    return made;
  };
  return {
    '~standard': {
      version: 1 as const,
      vendor: 'weir',
      validate: (value: unknown) => ({ value: value as Record<string, unknown> }),
      jsonSchema: { input: schema, output: schema },
    },
  };
}

/**
 * Shortens a schema for `tools/list`, which every client loads with each conversation. Removes the dialect, patterns
 * of known formats, bounds of safe integers, open schemas, titles, and length bounds, which errors mention.
 */
function shorten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shorten);
  if (value === null || typeof value !== 'object') return value;
  const isFormat = 'format' in value && typeof value.format === 'string';
  return Object.fromEntries(
    Object.entries(value)
      .filter(
        ([key, item]) =>
          key !== '$schema' &&
          key !== 'propertyNames' &&
          !(/^m(in|ax)Length$/.test(key) && typeof item === 'number') &&
          !(key === 'description' && item === ANY_VALUE) &&
          !(key === 'pattern' && isFormat) &&
          !(key === 'additionalProperties' && isEmpty(shorten(item))) &&
          Math.abs(Number(item)) !== Number.MAX_SAFE_INTEGER,
      )
      .map(([key, item]) => [key, shorten(item)]),
  );
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
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
    ctx.body = response.body && Readable.fromWeb(response.body as ReadableStream);
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
