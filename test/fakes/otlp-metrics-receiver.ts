// A receiver of metrics in OpenTelemetry's protocol (OTLP over HTTP, protobuf or JSON) that keeps the names it gets.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import protobuf from 'protobufjs';

/** The part of opentelemetry/proto/collector/metrics/v1/metrics_service.proto that is read here. */
const REQUEST = protobuf
  .parse(`syntax = "proto3";
    message Request { repeated ResourceMetrics resourceMetrics = 1; }
    message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scopeMetrics = 2; }
    message Resource { repeated KeyValue attributes = 1; }
    message KeyValue { string key = 1; Value value = 2; }
    message Value { string stringValue = 1; }
    message ScopeMetrics { repeated Metric metrics = 2; }
    message Metric { string name = 1; string description = 2; string unit = 3; }`)
  .root.lookupType('Request');

type Request = {
  resourceMetrics?: {
    resource?: { attributes?: { key: string; value: { stringValue?: string } }[] };
    scopeMetrics?: { metrics?: { name: string; unit?: string }[] }[];
  }[];
};

export type OtlpMetricsReceiver = {
  url: string;
  /** The units of the metrics that came, by name. */
  units: Map<string, string>;
  /** The processes that sent metrics: each a `service.name`, a space and a `service.instance.id`. */
  processes: Set<string>;
  /** The content types and headers `x-test` that came. */
  seen: Set<string>;
  /** Handles the next requests; undefined: accepts them. */
  behaviour: ((response: ServerResponse) => void) | undefined;
  close(): Promise<void>;
};

export async function startOtlpMetricsReceiver(): Promise<OtlpMetricsReceiver> {
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    if (receiver.behaviour) return receiver.behaviour(response);
    const type = request.headers['content-type'] ?? '';
    receiver.seen.add(`${request.method} ${request.url} ${type} ${request.headers['x-test']}`);
    const text = type.includes('json') ? body.toString() : undefined;
    const sent = (text ? JSON.parse(text) : REQUEST.toObject(REQUEST.decode(body))) as Request;
    for (const { resource, scopeMetrics = [] } of sent.resourceMetrics ?? []) {
      const named = (name: string) =>
        resource?.attributes?.find(({ key }) => key === name)?.value.stringValue ?? '';
      receiver.processes.add(`${named('service.name')} ${named('service.instance.id')}`);
      for (const { metrics = [] } of scopeMetrics)
        for (const { name, unit = '' } of metrics) receiver.units.set(name, unit);
    }
    response.writeHead(200, { 'content-type': type }).end(text ? '{}' : '');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: OtlpMetricsReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    units: new Map(),
    processes: new Set(),
    seen: new Set(),
    behaviour: undefined,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return receiver;
}
