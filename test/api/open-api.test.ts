import assert from 'node:assert/strict';
import { apiRoutes } from '../../api/app.ts';
import { openApiPath } from '../../api/open-api.ts';
import { startWeir, type Weir } from '../harness.ts';

describe('API reference', () => {
  let weir: Weir;
  before(async () => {
    weir = await startWeir({ worker: false });
  });
  after(() => weir.stop());

  type Schema = { required: string[]; additionalProperties: boolean };
  type Operation = {
    parameters: { name: string; in: string }[];
    responses: { [status: string]: { headers?: object } };
  };
  type Document = {
    openapi: string;
    paths: { [path: string]: { [method: string]: Operation } };
    components: { schemas: { ExecuteRequest: Schema } };
  };
  const openApi = async () => (await (await fetch(`${weir.url}/openapi.json`)).json()) as Document;

  it('describes every route, and nothing else, as OpenAPI 3.1', async () => {
    const document = await openApi();
    assert.match(document.openapi, /^3\.1\./);
    const described = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path}`),
    );
    const routes = apiRoutes(weir as never).map(({ method, path }) => `${method} ${openApiPath(path)}`);
    assert.deepEqual(described.sort(), routes.sort());
  });

  it('describes the fields that the validation takes', async () => {
    const document = await openApi();
    const request = document.components.schemas.ExecuteRequest;
    assert.deepEqual(request.required, ['message']);
    assert.equal(request.additionalProperties, false);
  });

  it('describes the headers of rate limits on every answer but 401, and those of Idempotency-Key', async () => {
    const document = await openApi();
    for (const [path, item] of Object.entries(document.paths))
      for (const [method, { parameters, responses }] of Object.entries(item)) {
        const starts = method === 'post' && !path.endsWith('/cancel');
        const header = path.endsWith('/events') ? ['Last-Event-ID'] : starts ? ['Idempotency-Key'] : [];
        for (const [status, { headers }] of Object.entries(responses)) {
          const limits =
            status === '401' ? [] : ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
          const replayed = starts ? 'Idempotent-Replayed' : undefined;
          const more = { 200: replayed, 202: replayed, 429: 'Retry-After' }[status];
          const expected = [...limits, ...(more ? [more] : [])];
          assert.deepEqual(Object.keys(headers ?? {}), expected, `${method} ${path} ${status}`);
        }
        const taken = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name);
        assert.deepEqual(taken, header, path);
      }
  });

  it('serves a page whose every file is its own', async () => {
    const page = await fetch(`${weir.url}/reference`);
    assert.match(page.headers.get('content-type') ?? '', /text\/html/);
    const files = [...(await page.text()).matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]);
    assert.equal(files.length, 3);
    for (const file of files) assert.equal((await fetch(`${weir.url}${file}`)).status, 200, file);
  });

  it('answers /healthz, and /readyz once database and engine answer', async () => {
    assert.equal((await fetch(`${weir.url}/healthz`)).status, 200);
    assert.equal((await fetch(`${weir.url}/readyz`)).status, 200);
  });
});
