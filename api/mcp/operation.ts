import { z } from 'zod';
import type { ZodOpenApiOperationObject } from 'zod-openapi';
import { errorBody } from '../http/errors.ts';
import { errorResponse, rateLimitHeaders } from '../http/headers.ts';
import { answer, body, ERRORS } from '../reference/operations.ts';
import { NOT_VALID, ORIGIN_NOT_ALLOWED, SIGN_IN_FIRST } from './authenticate-mcp.ts';

const id = z.union([z.string(), z.number(), z.null()]).optional();
const message = z
  .looseObject({ jsonrpc: z.literal('2.0'), id, method: z.string().optional() })
  .meta({ id: 'McpMessage', description: 'A JSON-RPC 2.0 message of the Model Context Protocol.' });
const failure = z
  .looseObject({
    jsonrpc: z.literal('2.0'),
    id,
    error: z.looseObject({ code: z.int(), message: z.string() }),
  })
  .meta({ id: 'McpError', description: 'A JSON-RPC error: why a message was refused.' });
const lacksScope = z
  .object({ error: z.literal('insufficient_scope'), error_description: z.string() })
  .meta({ id: 'McpInsufficientScope', description: 'An error as OAuth has it: the token lacks a scope.' });
const forbidden = z.union([errorResponse, lacksScope]).meta({ id: 'McpForbidden' });

const listTools = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const callTool = {
  jsonrpc: '2.0',
  id: 2,
  method: 'tools/call',
  params: { name: 'list_projects', arguments: {} },
};
const called = {
  jsonrpc: '2.0',
  id: 2,
  result: {
    content: [{ type: 'text', text: '{"projects":[],"next":null}' }],
    structuredContent: { projects: [], next: null },
  },
};
const refused = (code: number, text: string) => ({
  jsonrpc: '2.0',
  id: null,
  error: { code, message: text },
});

const DESCRIPTION = `Lets assistants manage flows through the Model Context Protocol, over stateless Streamable HTTP, in
the current revision and earlier ones. Takes only JWTs that the identity provider issued for MCP, no API keys; the header
\`WWW-Authenticate\` of a 401 leads to the identity provider (RFC 9728). A tool for which the token lacks a scope answers
403, and its \`WWW-Authenticate\` names the scopes to ask for. Send \`Accept: application/json, text/event-stream\`. The path with
a slash at its end, \`/api/v1/mcp/\`, is the same endpoint.`;

/** Describes the endpoint for the API reference. */
export function mcpOperation(): ZodOpenApiOperationObject {
  return {
    operationId: 'mcp',
    summary: 'Model Context Protocol',
    description: DESCRIPTION,
    tags: ['MCP'],
    security: [{ mcpJwt: [] }],
    requestBody: body(message, { list: listTools, call: callTool }),
    responses: {
      ...ERRORS,
      401: {
        ...answer('The token is missing, not valid, or not one for MCP.', errorResponse, {
          missing: errorBody('UNAUTHENTICATED', SIGN_IN_FIRST),
          invalid: errorBody('UNAUTHENTICATED', NOT_VALID),
        }),
        // The caller is unknown and has no quota.
        headers: undefined,
      },
      200: {
        description:
          'The answer, as JSON or as a stream that ends with it. An error of a tool is in the answer.',
        headers: z.object(rateLimitHeaders),
        content: {
          'application/json': { schema: message, examples: { called: { value: called } } },
          'text/event-stream': { schema: z.string() },
        },
      },
      202: { description: 'A notification was accepted.', headers: z.object(rateLimitHeaders) },
      400: answer(
        'The body is not a message of the protocol, or is of a revision that is not supported.',
        failure,
        {
          batch: refused(-32_600, 'Send one message per request: batches are not accepted.'),
        },
      ),
      403: answer('A web page whose origin is not allowed, or a token that lacks a scope.', forbidden, {
        FORBIDDEN: errorBody('FORBIDDEN', ORIGIN_NOT_ALLOWED),
        insufficient_scope: {
          error: 'insufficient_scope',
          error_description: 'This tool needs the scope flows:write',
        },
      }),
      404: answer('The method is not supported.', failure, {
        unknown: refused(-32_601, 'Method not found'),
      }),
      406: answer('The header Accept lacks one of the two types.', failure, {
        accept: refused(
          -32_000,
          'Not Acceptable: Client must accept both application/json and text/event-stream',
        ),
      }),
      413: answer('Over 8 MiB.', failure, {
        large: refused(-32_600, 'The body is over 8388608 bytes.'),
      }),
      415: answer('Not application/json in UTF-8.', failure, {
        type: refused(-32_600, 'Send the body as Content-Type: application/json, in UTF-8.'),
      }),
    },
  };
}
