// The cases of cases.yaml in which Weir itself is asked, and not a provider.
import assert from 'node:assert/strict';
import { MCP_SCOPES } from '../../api/auth/scopes.ts';
import type { Json, Step } from '../../flow/definition.ts';
import { useTools } from '../api/mcp/tools-harness.ts';
import { type DraftWeir, startDraftWeir } from '../api/runs/draft-harness.ts';
import { code, llm } from '../blocks.ts';
import { useIdentityProvider } from '../dev/identity/identity-harness.ts';
import { answer, respond } from '../fakes/model-server.ts';
import { getSharedWeir } from '../shared-weir.ts';
import { type Case, readCases } from './read-cases.ts';

/** Makes a test of each case with this id. */
function play(id: string, test: (one: Case) => Promise<void>): void {
  const cases = readCases().filter((one) => one.id === id || one.id.startsWith(`${id}.`));
  assert.ok(cases.length > 0, id);
  for (const one of cases) it(`${one.id}: ${one.kind}`, () => test(one));
}

describe("Weir's own MCP tools", () => {
  const { tools } = useTools({ worker: false });

  play('own-1', async () => {
    const { tools: listed } = await tools.client.listTools();
    assert.ok(listed.length > 0);
    for (const { name, inputSchema } of listed) {
      assert.doesNotMatch(JSON.stringify(inputSchema), /"oneOf"/, name);
      for (const [path, schema] of schemasIn(inputSchema, name))
        assert.equal(typeof schema.type, 'string', `${path}: ${JSON.stringify(schema)}`);
    }
  });
});

describe('a schema of an everyday tool', () => {
  let weir: DraftWeir;
  before(async () => {
    weir = await startDraftWeir();
  });
  after(() => weir.stop());

  /** Asserts that a block with this schema is refused in these words, or gives this value as its output. */
  async function check({ outputSchema }: Case, value: Json, refused: RegExp): Promise<void> {
    const { key } = weir;
    const { draft, flow } = await weir.createDraft([]);
    const body = { steps: [llm('ask', '{{message}}', 'demo/chat', { outputSchema })] };
    const written = await weir.call('PUT', draft, { key, body, headers: { 'if-match': '*' } });
    if (written.status !== 200) return assert.match(written.body.detail.message, refused);
    await weir.publish(draft);
    weir.models.will(answer(JSON.stringify(value)));
    const run = await weir.post(`${flow}/execute`, { message: 'm' });
    return assert.deepEqual([run.body.status, run.body.result], ['completed', value], run.body.errorMessage);
  }

  play('schema-1', (one) => {
    const [name = ''] = Object.keys(one.outputSchema.properties);
    return check(one, { [name]: null }, new RegExp(`/properties/${name}`));
  });

  play('schema-2', (one) =>
    check(one, { email: 'ada@example.org' }, /\/properties\/email\/pattern.*instead/),
  );
});

describe('a loop', () => {
  play('loop-1', async () => {
    const { models, ...weir } = await getSharedWeir();
    const tenant = await weir.createTenant();
    const items = ['a', 'b', 'c', 'd', 'e'];
    const body: Step[] = [llm('ask', '{{previous_output}}', 'demo/chat')];
    const loop: Step = { type: 'loop', step_id: 'each', name: 'each', max_iterations: 9, body };
    const flow = await weir.createFlow(tenant, [code('items', `return ${JSON.stringify(items)};`), loop]);
    let refused = 'd';
    const asked: string[] = [];
    models.always((response, call) => {
      const [{ content }] = call.body.messages as [{ content: string }];
      asked.push(content);
      const refusal = respond(400, { error: { message: 'not this one' } });
      (content.includes(refused) ? refusal : answer(`done ${content}`))(response);
    });
    const { key } = tenant;
    const first = await weir.call('POST', `${flow}/execute`, { key, body: { message: 'm' } });
    assert.equal(first.body.status, 'failed');
    refused = '-';
    asked.length = 0;
    const again = await weir.call('POST', `${flow}/jobs/${first.body.executionId}/retry`, { key });
    const ended = await weir.finish(flow, again.body.executionId, key);
    assert.deepEqual(
      [ended.body.status, ended.body.result],
      ['completed', items.map((item) => `done ${item}`)],
    );
    assert.deepEqual(asked, ['d', 'e']);
  });
});

describe('signing in', () => {
  const { identity, register, authorizeUrl, signIn } = useIdentityProvider();

  play('scope-1', async ({ request: { scope } }) => {
    const response = await fetch(`${identity.provider.issuer}/reg`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        redirect_uris: ['http://127.0.0.1:1/callback'],
        token_endpoint_auth_method: 'none',
        scope,
      }),
    });
    const body = (await response.json()) as { scope?: string };
    assert.equal(response.status, 201, JSON.stringify(body));
    const scopes = body.scope?.split(' ') ?? [];
    for (const known of MCP_SCOPES) assert.ok(scopes.includes(known), body.scope);
    assert.ok(!scopes.includes(scope));
  });

  play('scope-2', async ({ request: { registered_scope, authorize_scope } }) => {
    const { client_id } = await register({ scope: registered_scope });
    const { consent } = await signIn(authorizeUrl(client_id, { scope: authorize_scope }));
    assert.match(consent.text, /name="flows:write/);
  });
});

/** Lists the properties and items of a JSON Schema, with their paths. */
function schemasIn(schema: object, path: string): [string, { type?: unknown }][] {
  const found: [string, object][] = [];
  for (const [key, value] of Object.entries(schema)) {
    if (typeof value !== 'object' || value === null) continue;
    if (key === 'properties')
      for (const [name, each] of Object.entries(value)) found.push([`${path}.${name}`, each as object]);
    else if (key === 'items') found.push([`${path}[]`, value]);
  }
  return [...found, ...found.flatMap(([at, each]) => schemasIn(each, at))];
}
