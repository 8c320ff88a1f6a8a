// A receiver of OpenTelemetry's protocol (OTLP over HTTP, JSON) that keeps the spans it gets.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { waitUntil } from '../wait-until.ts';

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
    if (request.url === '/v1/traces') receiver.spans.push(...readSpans(body.toString()));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: OtlpReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
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

function readSpans(json: string): ReceivedSpan[] {
  const { resourceSpans } = JSON.parse(json) as {
    resourceSpans: { resource: { attributes: Written }; scopeSpans: { spans: WrittenSpan[] }[] }[];
  };
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
