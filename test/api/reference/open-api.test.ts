import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { apiRoutes } from '../../../api/app.ts';
import { STATUS } from '../../../api/http/errors.ts';
import { openApiPath } from '../../../api/reference/open-api.ts';
import { RUN_STATUSES } from '../../../db/schema.ts';
import { PAGE } from '../../../docs/write-reference.ts';
import { WEBHOOK_EVENTS } from '../../../flow/delivery.ts';
import { ERROR_CODES } from '../../../flow/errors.ts';
import type { Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { waitUntil } from '../../wait-until.ts';
import { readDocument } from './read-document.ts';

describe('API reference', () => {
  let weir: Weir;
  before(async () => {
    weir = await getSharedWeir();
  });
  after(() => weir.stop());

  type Schema = {
    properties?: { [name: string]: { $ref?: string } };
    required?: string[];
    additionalProperties?: boolean;
    enum?: string[];
    minProperties?: number;
    discriminator?: { propertyName: string; mapping: object };
  };
  type Example = { value: { detail?: { code: keyof typeof STATUS } } };
  type Content = { schema: { $ref: string }; examples: { [name: string]: Example } };
  type Bodies = { headers?: object; content: { 'application/json': Content } };
  type Operation = {
    parameters: { name: string; in: string; description?: string }[];
    tags?: string[];
    requestBody?: Bodies;
    responses: { [status: string]: Bodies };
  };
  type Document = {
    openapi: string;
    tags: { name: string }[];
    paths: { [path: string]: { [method: string]: Operation } };
    webhooks: { [event: string]: { [method: string]: Operation } };
    components: { schemas: { [name: string]: Schema } };
  };
  const openApi = () => readDocument<Document>(weir.url);

  it('describes every route, and nothing else, as OpenAPI 3.1', async () => {
    const document = await openApi();
    assert.match(document.openapi, /^3\.1\./);
    const described = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path}`),
    );
    const routes = apiRoutes(weir as never).map(({ method, path }) => `${method} ${openApiPath(path)}`);
    // The second path of MCP, which the description names.
    const once = routes.filter((route) => route !== 'post /api/v1/mcp/');
    assert.deepEqual(described.sort(), once.sort());
  });

  it('declares every tag that it uses, and describes every parameter of a path', async () => {
    const { tags, paths, webhooks } = await openApi();
    const operations = [...Object.values(paths), ...Object.values(webhooks)].flatMap((item) =>
      Object.values(item),
    );
    const used = new Set(operations.flatMap((operation) => operation.tags ?? []));
    assert.deepEqual(tags.map(({ name }) => name).sort(), [...used].sort());
    for (const { parameters = [] } of operations)
      for (const one of parameters) if (one.in === 'path') assert.ok(one.description, one.name);
  });

  it('has at most 500 KB, with everything that endpoints have in common once, among its components', async () => {
    const text = await (await fetch(`${weir.url}/openapi.json`)).text();
    assert.ok(Buffer.byteLength(text) <= 500_000, `${Buffer.byteLength(text)} bytes`);
    const shared = ['responses', 'requestBody', 'parameters', 'headers', 'examples'];
    const seen = new Map<string, string>();
    const visit = (value: unknown, path: string[]) => {
      if (value === null || typeof value !== 'object' || path.at(-1) === 'schema' || path.at(-1) === 'value')
        return;
      const kind = shared.find((name) => [path.at(-1), path.at(-2)].includes(name));
      const is = kind === 'requestBody' ? path.at(-1) === kind : path.at(-2) === kind;
      if (kind && is && !('$ref' in value)) {
        const key = `${kind} ${JSON.stringify(value)}`;
        assert.equal(seen.get(key), undefined, `${path.join('/')} repeats`);
        seen.set(key, path.join('/'));
      }
      for (const [name, inner] of Object.entries(value)) visit(inner, [...path, name]);
    };
    const { components, paths, webhooks } = JSON.parse(text);
    visit({ ...components, schemas: {}, paths, webhooks }, []);
    assert.ok(seen.size > 100);
  });

  it('describes the fields that the validation takes', async () => {
    const document = await openApi();
    const request = document.components.schemas.JobRequest;
    assert.deepEqual(request?.required, ['message']);
    assert.equal(request?.additionalProperties, false);
  });

  it('describes the headers of rate limits on answers to a caller that is known, and those of Idempotency-Key', async () => {
    const document = await openApi();
    for (const [path, item] of Object.entries(document.paths))
      for (const [method, { parameters, responses }] of Object.entries(item)) {
        const starts =
          method === 'post' && /\/(execute|jobs|step|rerun|\{executionId\}\/retry|draft\/runs)$/.test(path);
        const isPolled =
          method === 'get' &&
          /\/(runs|models|usage|blocks|deliveries|request|flow|test-cases|test-runs)$/.test(path);
        const isList = method === 'get' && /s$/.test(path);
        const resumable = path.endsWith('/events') || path.endsWith('/step');
        const writes =
          method === 'post' &&
          /\/(organizations|members|invitations|accept|projects|flows|versions|api-keys|test-cases|test-runs|rotate|redeliver|recover|test|runs\/retry)$/.test(
            path,
          );
        const header = [
          ...(starts || path.endsWith('/grants') ? ['Idempotency-Key'] : []),
          ...(starts || path.endsWith('/runs/retry') ? ['X-Weir-Model-Key'] : []),
          ...(path.endsWith('/execute') ? ['Prefer'] : []),
          ...(resumable ? ['Last-Event-ID'] : []),
          ...(isPolled ? ['If-None-Match'] : []),
          ...(IF_HEADERS[`${method} ${path.split('{flow_id}')[1]}`] ?? []),
          ...(writes ? ['Idempotency-Key'] : []),
        ];
        for (const [status, { headers }] of Object.entries(responses)) {
          const limits = ['401', '408', '431'].includes(status)
            ? []
            : ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
          const replayed = starts ? 'Idempotent-Replayed' : undefined;
          const created = path.endsWith('/grants') ? 'Idempotent-Replayed' : undefined;
          const more = { 200: replayed, 201: created, 202: replayed, 429: 'Retry-After', 503: 'Retry-After' }[
            status
          ];
          const tagged =
            (isPolled || (TAGGED.test(path) && !isList)) && ['200', '201', '304'].includes(status)
              ? ['ETag']
              : [];
          const preferred = path.endsWith('/execute')
            ? { 200: ['Preference-Applied'], 202: ['Preference-Applied', 'Location'] }[status]
            : undefined;
          const expected = [...limits, ...tagged, ...(more ? [more] : []), ...(preferred ?? [])];
          assert.deepEqual(Object.keys(headers ?? {}), expected, `${method} ${path} ${status}`);
        }
        const taken = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name);
        assert.deepEqual(taken, header, path);
      }
  });

  it('has no header that docs/reference.md lacks', async () => {
    const { paths, webhooks } = await openApi();
    const operations = [...Object.values(paths), ...Object.values(webhooks)].flatMap((item) =>
      Object.values(item),
    );
    const names = operations.flatMap(({ parameters = [], responses }) => [
      ...parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name),
      ...Object.values(responses).flatMap(({ headers }) => Object.keys(headers ?? {})),
    ]);
    assert.ok(names.length > 0);
    const page = readFileSync(PAGE, 'utf8');
    assert.deepEqual(
      [...new Set(names)].filter((name) => !page.includes(`| \`${name}\` |`)),
      [],
    );
  });

  it('tells 408 REQUEST_TIMEOUT of every endpoint, and 413 OUTPUT_TOO_LARGE of those that put outputs together', async () => {
    const document = await openApi();
    const codes = (operation: Operation | undefined, status: number) =>
      Object.keys(operation?.responses[status]?.content['application/json'].examples ?? {});
    for (const [path, item] of Object.entries(document.paths))
      for (const operation of Object.values(item))
        assert.deepEqual(codes(operation, 408), ['REQUEST_TIMEOUT'], path);
    const tooLarge = Object.entries(document.paths)
      .flatMap(([path, item]) => Object.entries(item).map(([method, each]) => ({ path, method, each })))
      .filter(({ each }) => codes(each, 413).includes('OUTPUT_TOO_LARGE'))
      .map(({ path, method }) => `${method} ${path.replace(/^.*(\{flow\}|\/draft)(\/v\{version\})?/, '')}`);
    const block = 'get /jobs/{executionId}/blocks/{key}';
    const expected = [
      'get /jobs/{executionId}',
      ...[block, `${block}/input`, `${block}/output`, `${block}/sent`],
      'get /jobs/{executionId}/fork',
      'post /execute',
    ];
    assert.deepEqual([...new Set(tooLarge)].sort(), expected);
  });

  it('gives examples of every body that its schema accepts, errors under the status of their code', async () => {
    const document = await openApi();
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    ajv.addSchema(document, 'openapi');
    const items = [...Object.values(document.paths), ...Object.values(document.webhooks)];
    for (const { requestBody, responses } of items.flatMap(Object.values<Operation>)) {
      const bodies = Object.entries(responses).concat(requestBody ? [['request', requestBody]] : []);
      for (const [status, { content }] of bodies) {
        // A stream, or an empty answer.
        if (!content?.['application/json']) continue;
        const { schema, examples } = content['application/json'];
        const values = Object.values(examples).map(({ value }) => value);
        assert.ok(values.length > 0, status);
        for (const value of values) {
          assert.ok(ajv.validate(`openapi${schema.$ref}`, value), ajv.errorsText());
          // Unsound HTTP is a BAD_REQUEST; its status says more.
          const of = status === '431' ? '400' : status;
          if (value.detail) assert.equal(String(STATUS[value.detail.code]), of);
        }
      }
    }
  });

  it('describes both webhooks', async () => {
    assert.deepEqual(Object.keys((await openApi()).webhooks), [...WEBHOOK_EVENTS]);
  });

  it('has a shape for each status of a run', async () => {
    const { ExecuteResponse, JobState } = (await openApi()).components.schemas;
    for (const union of [ExecuteResponse, JobState])
      assert.equal(union?.discriminator?.propertyName, 'status');
    assert.deepEqual(Object.keys(JobState?.discriminator?.mapping ?? {}).sort(), [...RUN_STATUSES].sort());
  });

  it('maps each type of a union to its schema: generated clients send the type', async () => {
    const { schemas } = (await openApi()).components;
    const unions = Object.values(schemas).filter(({ discriminator }) => discriminator);
    assert(unions.length >= 3);
    for (const { discriminator } of unions) assert(discriminator?.mapping);
    assert.deepEqual(schemas.Step?.discriminator?.mapping, {
      sequential: '#/components/schemas/SequentialStep',
      parallel: '#/components/schemas/ParallelStep',
      loop: '#/components/schemas/LoopStep',
    });
  });

  it('has the steps of a draft, a version and a run in the shape in which a draft takes them', async () => {
    const { schemas } = (await openApi()).components;
    const taken = schemas.ReplaceDraft?.properties?.steps?.$ref;
    assert.ok(taken);
    for (const name of ['Draft', 'VersionDetail', 'RunFlow'])
      assert.equal(schemas[name]?.properties?.steps?.$ref, taken, name);
  });

  it('lists the codes of errors', async () => {
    const { ErrorCode } = (await openApi()).components.schemas;
    assert.deepEqual(ErrorCode?.enum, ERROR_CODES);
  });

  it('has only patterns without Unicode properties, which many validators do not know', async () => {
    const text = JSON.stringify(await openApi());
    assert.match(text, /"pattern":/);
    assert.doesNotMatch(text, /"pattern":"[^"]*\\\\[pP]\{/);
  });

  it('has no pattern that only says what a format says, and no bound that every integer in JSON has', async () => {
    const text = JSON.stringify(await openApi());
    assert.match(text, /"format":"(?:date-time|uuid)"/);
    assert.doesNotMatch(text, /"format":"(?:date|date-time|uuid)","pattern"|-?9007199254740991/);
  });

  it('asks an update for at least one field', async () => {
    const { UpdateProject } = (await openApi()).components.schemas;
    assert.equal(UpdateProject?.minProperties, 1);
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
    await waitUntil(async () => (await fetch(`${weir.url}/readyz`)).status === 200);
  });
});

const IF_HEADERS: { [operation: string]: string[] } = {
  'get /draft': ['If-None-Match'],
  'put /draft': ['If-Match'],
  'post /versions': ['If-Match'],
  'post /draft/runs': ['If-Match'],
  'post /draft/execute': ['If-Match'],
  'post /draft/step': ['If-Match'],
  'put ': ['If-Match'],
  'delete ': ['If-Match'],
  'post /test-cases': ['If-None-Match'],
  'put /test-cases/{test_case_id}': ['If-Match'],
  'delete /test-cases/{test_case_id}': ['If-Match'],
};
/** The ends of paths whose answers have an ETag: drafts, flows and test cases; a list of those has none. */
const TAGGED = /\/(draft|flows|\{flow_id\}|test-cases|\{test_case_id\})$/;
