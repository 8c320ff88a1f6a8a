// A receiver of OpenTelemetry's protocol (OTLP over HTTP, protobuf or JSON) that keeps the spans it gets.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import protobuf from 'protobufjs';
import { waitUntil } from '../wait-until.ts';

/** The part of opentelemetry/proto/collector/trace/v1/trace_service.proto that is read from protobuf. */
const REQUEST = protobuf
  .parse(`syntax = "proto3";
    message Request { repeated ResourceSpans resourceSpans = 1; }
    message ResourceSpans { Resource resource = 1; repeated ScopeSpans scopeSpans = 2; }
    message Resource { repeated KeyValue attributes = 1; }
    message KeyValue { string key = 1; Value value = 2; }
    message Value { oneof value { string stringValue = 1; bool boolValue = 2; int64 intValue = 3; } }
    message ScopeSpans { repeated Span spans = 2; }
    message Span {
      bytes traceId = 1; bytes spanId = 2; bytes parentSpanId = 4; string name = 5; int32 kind = 6;
      repeated KeyValue attributes = 9;
    }`)
  .root.lookupType('Request');

type Written = { key: string; value: { [type: string]: unknown } }[];
type WrittenSpan = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  traceState?: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes?: Written;
  status?: { code?: number; message?: string };
  links?: { traceId: string }[];
  events?: object[];
};

export type ReceivedSpan = Omit<WrittenSpan, 'attributes'> & {
  attributes: { [name: string]: unknown };
  /** The attributes of the process. */
  resource: { [name: string]: unknown };
};

export type OtlpReceiver = {
  url: string;
  spans: ReceivedSpan[];
  /** The content types and headers `x-test` that came. */
  seen: Set<string>;
  /** Everything that was sent, as text. */
  text(): string;
  /** Handles the next requests; undefined: accepts them. */
  behaviour: ((response: ServerResponse) => void) | undefined;
  /** The number of requests. */
  requests: number;
  /** Resolves with the spans of a trace once `isWhole` holds for them. */
  traceWhen(traceId: string, isWhole: (spans: ReceivedSpan[]) => boolean): Promise<ReceivedSpan[]>;
  close(): Promise<void>;
};

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  let text = '';
  const server = createServer(async (request, response) => {
    receiver.requests += 1;
    const body = await buffer(request);
    if (receiver.behaviour) return receiver.behaviour(response);
    text += body.toString();
    const type = request.headers['content-type'] ?? '';
    receiver.seen.add(`${type} ${request.headers['x-test']}`);
    const isJson = type.includes('json');
    if (request.url === '/v1/traces')
      receiver.spans.push(...readSpans(isJson ? JSON.parse(body.toString()) : decode(body)));
    response.writeHead(200, { 'content-type': type }).end(isJson ? '{}' : '');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: OtlpReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    seen: new Set(),
    behaviour: undefined,
    requests: 0,
    text: () => text,
    traceWhen: (traceId, isWhole) =>
      waitUntil(async () => {
        const spans = receiver.spans.filter((span) => span.traceId === traceId);
        return isWhole(spans) && spans;
      }),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return receiver;
}

type Request = {
  resourceSpans: { resource: { attributes: Written }; scopeSpans: { spans: WrittenSpan[] }[] }[];
};

/** Reads protobuf as JSON has it: ids in hexadecimal. */
function decode(body: Buffer): Request {
  const sent = REQUEST.toObject(REQUEST.decode(body), { longs: String, bytes: String }) as Request;
  for (const span of sent.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)))
    for (const id of ['traceId', 'spanId', 'parentSpanId'] as const)
      if (span[id]) span[id] = Buffer.from(span[id], 'base64').toString('hex');
  return sent;
}

function readSpans({ resourceSpans }: Request): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        attributes: read(span.attributes),
        resource: read(resource.attributes),
      })),
    ),
  );
}

function read(attributes: Written = []): { [name: string]: unknown } {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

/** Returns the names of a span and of those around it, outermost first. */
export function pathOf(spans: ReceivedSpan[], span: ReceivedSpan): string {
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
  if (!parent) return span.parentSpanId ? `? > ${span.name}` : span.name;
  return `${pathOf(spans, parent)} > ${span.name}`;
}
