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
  type Document = {
    openapi: string;
    paths: { [path: string]: object };
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
