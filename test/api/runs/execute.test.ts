import assert from 'node:assert/strict';
import { updateDraft } from '../../../db/flows/flows.ts';
import { publishVersion, setProductionVersion } from '../../../db/flows/versions.ts';
import type { Step } from '../../../flow/definition.ts';
import { code, llm, passthrough } from '../../blocks.ts';
import type { Tenant, Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';

describe('POST …/execute', () => {
  let weir: Weir;
  let tenant: Tenant;
  before(async () => {
    weir = await getSharedWeir();
    tenant = await weir.createTenant();
  });
  after(() => weir.stop());

  const execute = (path: string, body: unknown) =>
    weir.call('POST', `${path}/execute`, { key: tenant.key, body });

  describe('200', () => {
    it('answers the output of the last step, the flow and the number of blocks', async () => {
      const flow = await weir.createFlow(tenant, [
        code('double', 'return { text: message + message, tone: parameters.tone };'),
        {
          type: 'parallel',
          step_id: 'both',
          name: 'both',
          branches: { a: [passthrough('keep')], b: [code('size', 'return input.text.length;')] },
        },
      ]);
      const { status, body } = await execute(flow, { message: 'ab', parameters: { tone: 'dry' } });
      assert.equal(status, 200);
      const receipt = await weir.call('GET', `${flow}/jobs/${body.executionId}`, { key: tenant.key });
      assert.equal(receipt.body.blocks.length, 3);
      assert.deepEqual(
        { ...body, executionId: typeof body.executionId, flowId: typeof body.flowId },
        {
          executionId: 'string',
          status: 'completed',
          result: { a: { text: 'abab', tone: 'dry' }, b: 4 },
          flowId: 'string',
          blockCount: 3,
          cost: 0,
          blocks: receipt.body.blocks,
        },
      );
    });

    it('passes the message through a flow without steps', async () => {
      const { body } = await execute(await weir.createFlow(tenant, []), { message: 'as it is' });
      assert.deepEqual([body.status, body.result, body.blockCount], ['completed', 'as it is', 0]);
    });

    it('answers failed, with the block, its message and its line, when a block fails', async () => {
      const flow = await weir.createFlow(tenant, [code('work', 'const a = 1;\nthrow new Error("no luck");')]);
      const { status, body } = await execute(flow, { message: '' });
      assert.equal(status, 200);
      assert.equal(body.status, 'failed');
      assert.equal(body.result, null);
      assert.equal(body.failureReason, 'error');
      assert.match(body.errorMessage, /Block "work" \(work\): Error: no luck \(line 2\)/);
    });

    it('enforces inputSchema and outputSchema', async () => {
      const flow = await weir.createFlow(tenant, [
        code('make', 'return { n: message };', {
          outputSchema: { type: 'object', properties: { n: { pattern: '^[0-9]+$' } } },
        }),
        passthrough('next', { inputSchema: { properties: { n: { maxLength: 2 } } } }),
      ]);
      assert.equal((await execute(flow, { message: '12' })).body.status, 'completed');
      assert.match(
        (await execute(flow, { message: 'x' })).body.errorMessage,
        /\(make\): The output does not match.*\/n/,
      );
      assert.match(
        (await execute(flow, { message: '123' })).body.errorMessage,
        /\(next\): The input does not match.*\/n/,
      );
    });

    it('applies block_overrides to this run only', async () => {
      const flow = await weir.createFlow(tenant, [passthrough('keep')]);
      const strict = { keep: { inputSchema: { const: 'only this' } } };
      assert.equal(
        (await execute(flow, { message: 'other', block_overrides: strict })).body.status,
        'failed',
      );
      assert.equal((await execute(flow, { message: 'other' })).body.status, 'completed');
    });

    it('refuses block_overrides that a model does not take, by the setting or the model', async () => {
      const asked = { ...llm('ask', 'Hello', 'openai/gpt-4o'), processor_config: { temperature: 0 } };
      const flow = await weir.createFlow(tenant, [asked as Step]);
      const fieldsFor = async (ask: object) => {
        const { status, body } = await execute(flow, { message: '', block_overrides: { ask } });
        assert.equal(status, 422, JSON.stringify(body));
        return body.detail.errors.map(({ field }: { field: string }) => field);
      };
      const effort = { processor_config: { reasoning_effort: 'low' } };
      assert.deepEqual(await fieldsFor(effort), ['block_overrides.ask.processor_config.reasoning_effort']);
      assert.deepEqual(await fieldsFor({ model: 'openai/gpt-5' }), ['block_overrides.ask.model']);
    });

    it('runs the version named in the path, and production without one', async () => {
      const flow = await weir.createFlow(tenant, [code('v', 'return 1;')]);
      const { id } = await weir.db
        .selectFrom('flow')
        .select('id')
        .where('slug', '=', flow.split('/')[2] as string)
        .executeTakeFirstOrThrow();
      await updateDraft(weir.db, id, { steps: [code('v', 'return 2;')] });
      await publishVersion(weir.db, id, 'second');
      const results = async () =>
        Promise.all(
          [flow, `${flow}/v1`, `${flow}/v2`].map(
            async (path) => (await execute(path, { message: '' })).body.result,
          ),
        );
      assert.deepEqual(await results(), [1, 1, 2]);
      await setProductionVersion(weir.db, id, 2);
      assert.deepEqual(await results(), [2, 1, 2]);
    });

    it('ignores callbackUrl', async () => {
      const flow = await weir.createFlow(tenant, []);
      assert.equal((await execute(flow, { message: 'x', callbackUrl: 'https://example.com' })).status, 200);
    });

    it('carries any text through: NUL, lone surrogates, line separators, quotes', async () => {
      const text = 'a\u0000b\ud800c\u2028d"\\e\u{1f600}';
      const flow = await weir.createFlow(tenant, [
        code('same', 'return { message, input, more: parameters.text };'),
      ]);
      const { body } = await execute(flow, { message: text, parameters: { text } });
      assert.deepEqual(body.result, { message: text, input: text, more: text });
    });
  });

  describe('400', () => {
    it('answers INVALID_VERSION for the draft', async () => {
      const { status, body } = await execute(`${await weir.createFlow(tenant, [])}/v0`, { message: '' });
      assert.deepEqual([status, body.detail.code], [400, 'INVALID_VERSION']);
    });

    it('answers PARAMETER_NAME_RESERVED for attachments inside parameters', async () => {
      const flow = await weir.createFlow(tenant, []);
      const { status, body } = await execute(flow, { message: '', parameters: { attachments: [] } });
      assert.deepEqual([status, body.detail.code], [400, 'PARAMETER_NAME_RESERVED']);
    });
  });

  describe('402', () => {
    it('answers INSUFFICIENT_CREDITS when nothing is left', async () => {
      const poor = await weir.createTenant({ credits: 0 });
      const flow = await weir.createFlow(poor, []);
      const { status, body } = await weir.call('POST', `${flow}/execute`, {
        key: poor.key,
        body: { message: '' },
      });
      assert.deepEqual([status, body.detail.code], [402, 'INSUFFICIENT_CREDITS']);
      assert.match(
        body.detail.message,
        /the operator of the service grants them, with `weir operator credits grant/,
      );
    });
  });

  describe('404', () => {
    it('answers the same for a flow that is unknown, foreign, unpublished or asked for in a version it lacks', async () => {
      const flow = await weir.createFlow(tenant, []);
      const other = await weir.createTenant();
      const foreign = await weir.createFlow(other, []);
      const [org, project] = flow.split('/');
      const withoutVersion = [
        `${org}/${project}/none`,
        `${org}/none/${flow.split('/')[2]}`,
        `none/${project}/x`,
        foreign,
        `${org}/${project}/%00`,
      ];
      const withVersion = [`${foreign}/v1`, `${flow}/v2`, `${flow}/v99999999999`, `${flow}/v1x`];
      for (const paths of [withoutVersion, withVersion]) {
        const answers = await Promise.all(paths.map((path) => execute(path, { message: '' })));
        for (const [index, answer] of answers.entries()) {
          assert.equal(answer.status, 404, paths[index]);
          assert.deepEqual(answer.body, answers[0]?.body, paths[index]);
        }
        assert.equal(answers[0]?.body.detail.code, 'FLOW_NOT_FOUND');
      }
    });

    it('comes before the 400 of the draft, and after the 401, at every path with a version', async () => {
      const flow = await weir.createFlow(tenant, []);
      const foreign = await weir.createFlow(await weir.createTenant(), []);
      const { executionId } = (await execute(flow, { message: '' })).body;
      for (const [method, path, body] of [
        ['POST', 'execute', { message: '' }],
        ['POST', 'jobs', { message: '' }],
        ['POST', 'step', { executionId: null, stepIndex: 0, message: '' }],
        ['GET', `jobs/${executionId}`, undefined],
      ] as const) {
        const codeOf = async (of: string, key = tenant.key) =>
          (await weir.call(method, `${of}/v0/${path}`, { key, body })).body.detail.code;
        for (const unknown of [`${flow}x`, foreign, 'none/project/x', `${flow}%00`])
          assert.equal(await codeOf(unknown), 'FLOW_NOT_FOUND', `${unknown} ${path}`);
        assert.equal(await codeOf(flow), 'INVALID_VERSION', path);
        assert.equal(await codeOf(`${flow}x`, 'none'), 'UNAUTHENTICATED', path);
      }
    });
  });

  describe('422', () => {
    const table: [string, unknown, string[]][] = [
      ['a missing message', {}, ['message']],
      ['a message that is not a string', { message: 1 }, ['message']],
      ['parameters that are not an object', { message: '', parameters: [] }, ['parameters']],
      ['an unknown field', { message: '', mesage: '' }, ['mesage']],
      ['a body that is not an object', [], ['body']],
      ['a null body', null, ['body']],
      [
        'an override of an unknown step',
        { message: '', block_overrides: { nope: {} } },
        ['block_overrides.nope'],
      ],
      [
        'an override of an unknown field',
        { message: '', block_overrides: { work: { processor_type: 'llm' } } },
        ['block_overrides.work.processor_type'],
      ],
      [
        'an override of code',
        { message: '', block_overrides: { work: { prompt: 'return 2' } } },
        ['block_overrides.work.prompt'],
      ],
      [
        'an override that is not a schema',
        { message: '', block_overrides: { work: { inputSchema: { type: 'x' } } } },
        ['block_overrides.work.inputSchema'],
      ],
      [
        'a wrong limit in processor_config',
        { message: '', block_overrides: { work: { processor_config: { timeout_ms: -1 } } } },
        ['block_overrides.work.processor_config.timeout_ms'],
      ],
    ];
    for (const [rule, body, fields] of table)
      it(`names the field for ${rule}`, async () => {
        const flow = await weir.createFlow(tenant, [code('work', 'return 1;')]);
        const answer = await execute(flow, body);
        assert.equal(answer.status, 422);
        assert.equal(answer.body.detail.code, 'VALIDATION_ERROR');
        assert.deepEqual(
          answer.body.detail.errors.map((error: { field: string }) => error.field),
          fields,
        );
      });
  });
});
