import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { createMcpHandler, INVALID_PARAMS } from '@modelcontextprotocol/server';
import { toCaller } from '../auth/caller.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiContext, ApiMiddleware } from '../http/context.ts';
import { holdBytesAlone } from '../http/hold-answer-bytes.ts';
import { holdMadeAnswer } from '../http/hold-made-answers.ts';
import { readerSignal } from '../http/reader-signal.ts';
import { createMcpServer } from './create-mcp-server.ts';
import { findWrongParams } from './find-wrong-params.ts';
import { resourceMetadataUrl } from './resource-metadata.ts';
import type { McpCall } from './tool.ts';

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
    const { user, requestId, endLargeWork } = ctx.state;
    // A stopping process still finishes requests in flight.
    const gone = readerSignal(ctx.res);
    const goneOrStopping = readerSignal(ctx.res, deps.stopping);
    const holdAnswer: McpCall['holdAnswer'] = (owner, bytes, { isMade } = { isMade: false }) =>
      (isMade ? holdMadeAnswer : holdBytesAlone)(deps.largeValues, ctx, owner, bytes);
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
            endLargeWork,
            holdAnswer,
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
