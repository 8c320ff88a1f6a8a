import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Meter } from '@opentelemetry/api';
import Koa from 'koa';
import { handleErrors } from '../../../api/http/errors.ts';
import { observeRequest } from '../../../api/http/observe-requests.ts';
import { type ErrorCode, ServiceError } from '../../../flow/errors.ts';
import { bindInstruments } from '../../../platform/observability/metrics/instruments.ts';
import { waitUntil } from '../../wait-until.ts';

describe('the metric of requests', () => {
  const measured: object[] = [];
  let server: Server;
  before(async () => {
    const observable = () => ({ addCallback: () => undefined });
    bindInstruments({
      createHistogram: (name: string) => ({
        record: (_: number, labels: object) =>
          name === 'http.server.request.duration' && measured.push(labels),
      }),
      createCounter: () => ({ add: () => undefined }),
      createObservableGauge: observable,
      createObservableCounter: observable,
    } as unknown as Meter);
    const app = new Koa();
    app.use(observeRequest).use(handleErrors());
    app.use((ctx) => {
      const [, status, code] = ctx.path.split('/');
      if (code) throw new ServiceError(code as ErrorCode, 'no');
      ctx.status = Number(status);
    });
    server = createServer(app.callback()).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => {
    bindInstruments(undefined);
    server.close();
  });

  for (const [path, type] of [
    ['/204', undefined],
    ['/401/UNAUTHENTICATED', undefined],
    ['/402/INSUFFICIENT_CREDITS', undefined],
    ['/503/DATABASE_UNAVAILABLE', 'DATABASE_UNAVAILABLE'],
    ['/503', '503'],
  ] as const)
    it(`has the error type ${type ?? 'of none'} for ${path.slice(1)}`, async () => {
      measured.length = 0;
      await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`);
      const [labels] = await waitUntil(async () => measured.length > 0 && measured);
      const status = Number(path.split('/')[1]);
      assert.deepEqual(labels, {
        'http.request.method': 'GET',
        'http.response.status_code': status,
        ...(type && { 'error.type': type }),
      });
    });
});
