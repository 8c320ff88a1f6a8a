// Drafts over HTTP.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { RetryLater } from '../../../api/http/request-errors.ts';
import { publishVersion } from '../../../db/flows/versions.ts';
import { BRANCHES_MAX, FLOW_STEPS_MAX } from '../../../flow/limits.ts';
import { code, useManagement } from '../organizations/management-harness.ts';

const pass = (step_id: string) => ({ step_id, processor_type: 'passthrough' });
const stored = (step_id: string) => ({ type: 'sequential', ...pass(step_id), name: step_id });

const reverseKeys = (json: unknown): unknown =>
  Array.isArray(json)
    ? json.map(reverseKeys)
    : json !== null && typeof json === 'object'
      ? Object.fromEntries(
          Object.entries(json)
            .reverse()
            .map(([key, value]) => [key, reverseKeys(value)]),
        )
      : json;

describe('a draft over HTTP', () => {
  const { management } = useManagement();

  const path = () => `/projects/${management.acme.projectId}/flows/${management.acme.flowId}/draft`;
  const send = (method: string, headers: Record<string, string>, body?: unknown) =>
    management.weir.call(method, path(), { key: management.acme.token.member, body, headers });
  const read = async () => {
    const { body, headers } = await send('GET', {});
    return { body, etag: headers.get('etag') ?? '' };
  };
  const put = (steps: unknown, etag = '*') => send('PUT', { 'if-match': etag }, { steps });

  it('is read and replaced as a whole, with the step_id and name of each step filled in', async () => {
    const { body, etag } = await read();
    assert.deepEqual(body, { steps: [], problems: [], notes: [] });
    const answer = await put([pass('a'), { name: 'Then this', processor_type: 'passthrough' }], etag);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const after = await read();
    assert.deepEqual(after.body.steps, [stored('a'), { ...stored('then-this'), name: 'Then this' }]);
    assert.deepEqual([answer.body, answer.headers.get('etag')], [after.body, after.etag]);
    assert.notEqual(after.etag, etag);
    assert.match(etag, /^"[\w-]+"$/);
  });

  it('is written back as it was read, with problems and notes, which are ignored; other unknown fields are refused', async () => {
    await put([{ step_id: 'a', processor_type: 'llm' }]);
    const { body, etag } = await read();
    assert.equal(body.problems.length > 0, true);
    const answer = await send('PUT', { 'if-match': etag }, body);
    assert.deepEqual([answer.status, answer.body], [200, body]);
    assert.equal(answer.headers.get('etag'), etag);
    const other = await send('PUT', { 'if-match': etag }, { ...body, name: 'a' });
    assert.equal(other.status, 422);
  });

  it('has the ETag of its content, which is the same again once the content is', async () => {
    const empty = await read();
    await put([pass('a')]);
    await put([]);
    assert.equal((await read()).etag, empty.etag);
  });

  for (const [what, text] of [
    ['', 'x'],
    [', with texts that PostgreSQL cannot compare as JSON too', '\0 \ud800'],
  ])
    it(`is the same when a client writes back what it read, its keys in another order${what}`, async () => {
      await put([
        { ...pass('a'), description: text, processor_config: { max_tokens: 1, temperature: 0 } },
        { ...pass('b'), outputSchema: { type: 'object', properties: { b: {}, a: {} } } },
      ]);
      const { flowId } = management.acme;
      await publishVersion(management.weir.db, flowId, '');
      const { body, etag } = await read();
      const answer = await put(reverseKeys(body.steps), etag);
      assert.deepEqual([answer.status, answer.headers.get('etag')], [200, etag], JSON.stringify(answer.body));
      assert.equal((await read()).etag, etag);
      const isPublished = async () =>
        (
          await management.weir.call('GET', path().replace('/draft', ''), {
            key: management.acme.token.member,
          })
        ).body.draftIsPublished;
      assert.equal(await isPublished(), true);
      if (text === 'x') {
        await put([]);
        await put(reverseKeys(body.steps));
        assert.equal(await isPublished(), true);
      }
    });

  it('answers 304 without a body while it has an ETag of If-None-Match', async () => {
    const { etag } = await read();
    for (const tags of [etag, `"other", ${etag}`, `W/${etag}`, '*']) {
      const answer = await send('GET', { 'if-none-match': tags });
      assert.deepEqual(
        [answer.status, answer.body, answer.headers.get('etag')],
        [304, undefined, etag],
        tags,
      );
    }
    await put([pass('a')]);
    assert.equal((await send('GET', { 'if-none-match': etag })).status, 200);
  });

  it('is replaced only with If-Match: 428 without, 412 with the newer ETag when it has changed', async () => {
    const { etag } = await read();
    assert.deepEqual(code(await send('PUT', {}, { steps: [] })), [428, 'PRECONDITION_REQUIRED']);
    assert.equal((await put([pass('a')], etag)).status, 200);
    const now = await read();
    for (const old of [etag, '"x"', 'x', `W/${now.etag}`, now.etag.replaceAll('"', '')]) {
      const refused = await put([pass('b')], old);
      assert.deepEqual(code(refused), [412, 'PRECONDITION_FAILED'], old);
      assert.equal(refused.body.detail.etag, now.etag);
    }
    assert.deepEqual(await read(), now);
    assert.equal((await put([pass('b')], `"x", ${now.etag}`)).status, 200);
    assert.equal((await put([pass('c')], '*')).status, 200);
  });

  it('is replaced by one of those who have read the same draft, and by no other', async () => {
    const { etag } = await read();
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const answers = await Promise.all(names.map((name) => put([pass(name)], etag)));
    const won = names.filter((_, at) => answers[at]?.status === 200);
    assert.equal(won.length, 1);
    for (const { status } of answers) assert.ok(status === 200 || status === 412);
    assert.deepEqual((await read()).body.steps, [stored(won[0] ?? '')]);
  });

  it('has a problem for a setting that its model does not take, and a note where nobody knows', async () => {
    const ask = { processor_type: 'llm', prompt: 'Hi', processor_config: { temperature: 0 } };
    const { body } = await put([
      { ...ask, step_id: 'one', model: 'openai/gpt-5-mini' },
      { ...ask, step_id: 'two', model: 'openai/gpt-of-tomorrow' },
    ]);
    assert.deepEqual(
      body.problems.map(({ path }: { path: string }) => path),
      ['steps[0].processor_config.temperature'],
    );
    const [note] = body.notes.filter(({ field }: { field: string }) => field === 'processor_config');
    assert.match(note.message, /in no model list: temperature will be sent/);
  });

  it('may be unfinished: the answer says what is missing, and which models have no key', async () => {
    const unfinished = [
      { step_id: 'one', processor_type: 'llm', prompt: 'Greet {{mesage}}.' },
      { step_id: 'two', processor_type: 'llm', model: 'nobody/model', prompt: 'Hi' },
      { step_id: 'three', processor_type: 'code', prompt: 'return {' },
      { step_id: 'four', processor_type: 'llm', model: 'anthropic/claude', prompt: 'Hi' },
      { step_id: 'five', processor_type: 'passthrough', prompt: 'Hi' },
      { step_id: 'six', processor_type: 'llm', model: 'vllm/x', prompt: 'Hi' },
    ];
    const { status, body } = await put(unfinished);
    assert.equal(status, 200, JSON.stringify(body));
    const paths = body.problems.map(({ path }: { path: string }) => path);
    assert.deepEqual(
      [...paths].sort(),
      ['steps[0].model', 'steps[0].prompt', 'steps[1].model', 'steps[2].prompt'],
      JSON.stringify(body.problems),
    );
    const places = body.problems.map((problem: { [field: string]: unknown }) => [
      problem.step_id,
      problem.field,
      problem.line,
    ]);
    assert.deepEqual(places.sort(), [
      ['one', 'model', undefined],
      ['one', 'prompt', undefined],
      ['three', 'prompt', undefined],
      ['two', 'model', undefined],
    ]);
    const notes = body.notes.map(
      ({ step_id, field, message }: { [field: string]: unknown }) => `${step_id} ${field} ${message}`,
    );
    assert.match(
      notes.join('\n'),
      /\nfour model .* no key is set for anthropic\/claude, unless callers send their own\. .*\nfour model anthropic\/claude is in no list of models\. .* like anthropic\/\*, 500 credits .*\nsix model .* no key is set for vllm\/x\. Models .*\nsix model vllm\/x is in no list .*\nfive null .*: prompt\.$/,
    );
    assert.deepEqual((await read()).body, body);
  });

  it('has a note about code that uses what code does not have', async () => {
    const prompt = 'const answer = await fetch(input.url); setTimeout(() => 1, 5); return answer.json()';
    const { body } = await put([{ ...pass('load'), processor_type: 'code', prompt }]);
    assert.deepEqual(body.problems, []);
    assert.deepEqual(body.notes, [
      {
        path: 'steps[0].prompt',
        message:
          'The code uses fetch, setTimeout, which are not defined. It has input, message, parameters and outputs, but no fetch, require, import, timers or files.',
        step_id: 'load',
        field: 'prompt',
      },
    ]);
  });

  it('has notes, also when it is published, about code that returns nothing and schemas that check nothing', async () => {
    const code = { processor_type: 'code', prompt: 'const total = input.a + 1;' };
    const outputSchema = { stars: { type: 'integer' } };
    const { body } = await put([
      { type: 'loop', step_id: 'each', body: [{ ...code, step_id: 'sum' }] },
      { ...pass('rate'), outputSchema },
    ]);
    assert.deepEqual(body.problems, []);
    assert.deepEqual(body.notes, [
      {
        path: 'steps[0].body[0].prompt',
        message: 'The code never returns a value, so the output is null: add a return.',
        step_id: 'sum',
        field: 'prompt',
      },
      {
        path: 'steps[1].outputSchema',
        message:
          'The schema checks nothing: stars is no keyword of JSON Schema. Name the fields of an object inside properties.',
        step_id: 'rate',
        field: 'outputSchema',
      },
    ]);
    const { token, projectId, flowId } = management.acme;
    const versions = `/projects/${projectId}/flows/${flowId}/versions`;
    const published = await management.weir.call('POST', versions, { key: token.owner, body: {} });
    assert.deepEqual([published.status, published.body.notes], [201, body.notes]);
  });

  it('is refused with a wrapper in place of a JSON Schema: the answer says where the schema is', async () => {
    const schema = { type: 'object' };
    for (const [wrapper, inner] of [
      [{ name: 'rating', strict: true, schema }, '/schema'],
      [{ type: 'json_schema', json_schema: { name: 'rating', schema } }, '/json_schema/schema'],
      [{ type: 'function', function: { name: 'rate', parameters: schema } }, '/function/parameters'],
    ] as const) {
      const { status, body } = await put([{ ...pass('rate'), outputSchema: wrapper }]);
      assert.equal(status, 400);
      const [{ step_id, message }] = body.detail.problems;
      assert.equal(step_id, 'rate');
      assert.match(message, new RegExp(`a wrapper .* give only the schema inside, at ${inner}$`));
    }
  });

  it('tells where its problems are: the step, also inside others, its field, and the line and column of code', async () => {
    const wrong = { step_id: 'wrong', processor_type: 'code', prompt: 'const a = 1;\nreturn ;;)' };
    const { body } = await put([{ type: 'loop', step_id: 'each', max_iterations: 2, body: [wrong] }]);
    const [problem, ...others] = body.problems;
    assert.deepEqual(others, []);
    const { path, step_id, field, line, column } = problem;
    assert.deepEqual(
      [path, step_id, field, line, column],
      ['steps[0].body[0].prompt', 'wrong', 'prompt', 2, 10],
    );
    const { body: refused } = await put([pass('a'), { ...pass('b'), outputSchema: { type: 'nothing' } }]);
    const [{ step_id: of, field: at }] = refused.detail.problems;
    assert.deepEqual([of, at], ['b', 'outputSchema']);
  });

  it('has its long code read in the thread, once, however often it is written, read and published', async () => {
    const read = mock.method(management.weir.largeValues.json, 'readCode');
    const long = (step_id: string) => ({
      ...{ step_id, processor_type: 'code' },
      prompt: `return outputs.${step_id}${' '.repeat(100_000)}`,
    });
    try {
      const { body } = await put([long('a'), long('b')]);
      assert.match(body.problems[0].message, /^outputs\.a: the step a has not ended/);
      assert.deepEqual((await send('GET', {})).body, body);
      const { token, projectId, flowId } = management.acme;
      const versions = `/projects/${projectId}/flows/${flowId}/versions`;
      const refused = await management.weir.call('POST', versions, { key: token.owner, body: {} });
      assert.deepEqual(code(refused), [400, 'INVALID_TREE']);
      assert.deepEqual(
        read.mock.calls.map(({ arguments: [owner] }) => owner),
        [management.acme.organizationId, management.acme.organizationId],
      );
    } finally {
      read.mock.restore();
    }
  });

  it('is not replaced by one that is wrong: the answer names each place', async () => {
    assert.equal((await put([pass('kept')])).status, 200);
    const kept = await read();
    const field = async (steps: unknown) => {
      const { status, body } = await put(steps);
      return [status, body.detail.errors?.[0].field ?? body.detail.problems?.[0].path];
    };
    assert.deepEqual(await field([{ step_id: 'a' }]), [422, 'steps.0.processor_type']);
    assert.deepEqual(await field([{ ...pass('a'), promt: 'x' }]), [422, 'steps.0.promt']);
    assert.deepEqual(await field([{ type: 'loop', body: [{ ...pass('a'), name: '' }] }]), [
      422,
      'steps.0.body.0.name',
    ]);
    assert.deepEqual(await field('none'), [422, 'steps']);
    assert.deepEqual(await field([pass('a'), pass('a')]), [400, 'steps[1].step_id']);
    const schema = { type: 'nothing' };
    assert.deepEqual(await field([{ ...pass('a'), outputSchema: schema }]), [400, 'steps[0].outputSchema']);
    const many = Array.from({ length: FLOW_STEPS_MAX + 1 }, (_, at) => pass(`s${at}`));
    assert.equal((await put(many)).status, 400);
    const large = Array.from({ length: 9 }, (_, at) => ({
      ...pass(`s${at}`),
      prompt: 'x'.repeat(250_000),
    }));
    assert.equal((await put(large)).status, 422);
    assert.deepEqual(await read(), kept);
  });

  it('is refused for too many steps or branches before the shape of each is looked at', async () => {
    const many = Array(300_000).fill(1);
    const branches = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`b${at}`, 1]));
    const parallel = { type: 'parallel', step_id: 'wide', branches: branches(BRANCHES_MAX + 1) };
    const nested = [{ type: 'loop', body: [{ type: 'parallel', branches: { a: many } }] }];
    const cases: [what: string, steps: unknown, path: string, stepId: string | null][] = [
      ['steps', many, 'steps', null],
      ['steps inside others', nested, 'steps', null],
      ['branches', [{ type: 'loop', body: [parallel] }], 'steps[0].body[0].branches', 'wide'],
    ];
    for (const [what, steps, path, stepId] of cases) {
      const { status, body } = await put(steps);
      assert.deepEqual([status, body.detail.code], [400, 'INVALID_TREE'], what);
      const [problem, ...others] = body.detail.problems;
      assert.deepEqual([problem.path, problem.step_id, others], [path, stepId, []], what);
    }
  });

  it('is refused for too many steps without the long names that it came with', async () => {
    const long = 'x'.repeat(100_000);
    const branches = { [long]: Array(BRANCHES_MAX + 1).fill(1) };
    const wide = Object.fromEntries(Array.from({ length: BRANCHES_MAX + 1 }, (_, at) => [`b${at}`, 1]));
    const inner = [{ type: 'parallel', step_id: long, branches: wide }];
    const { status, body } = await put([
      { type: 'parallel', branches: { ...branches, [`${long}y`]: inner } },
    ]);
    assert.deepEqual([status, body.detail.code], [400, 'INVALID_TREE']);
    assert(JSON.stringify(body).length < 2_000);
  });

  it('is not replaced when the turn to read its code does not come: the same request may be sent again', async () => {
    const { body, etag } = await read();
    const steps = [{ step_id: 'a', processor_type: 'code', prompt: 'return 1' }];
    const refuse = mock.method(management.weir.largeValues, 'readCode', async () => {
      throw new RetryLater('RATE_LIMITED', 'try again');
    });
    try {
      assert.deepEqual(code(await put(steps, etag)), [429, 'RATE_LIMITED']);
    } finally {
      refuse.mock.restore();
    }
    assert.deepEqual(await read(), { body, etag });
    assert.equal((await put(steps, etag)).status, 200);
  });

  it('is recorded when it changes, and not when it stays the same', async () => {
    await put([pass('a')]);
    await put([pass('a')]);
    const entries = await management.weir.db
      .selectFrom('audit_entry')
      .select(['actor', 'action', 'details'])
      .where('resource_id', '=', management.acme.flowId)
      .execute();
    assert.deepEqual(entries, [
      { actor: management.acme.users.member, action: 'flow.edit', details: { replaced: true } },
    ]);
  });
});
