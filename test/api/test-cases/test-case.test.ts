import assert from 'node:assert/strict';
import { createTestCase, deleteTestCase } from '../../../api/test-cases/test-case.ts';
import { newTestCase } from '../../../api/test-cases/test-case-fields.ts';
import { findTestCase, listTestCases, loadTestCases } from '../../../db/test-runs/test-cases.ts';
import { TEST_CASES_MAX } from '../../../flow/test-case.ts';
import { passthrough } from '../../blocks.ts';
import { startTestsWeir, type TestsWeir } from './tests-harness.ts';

describe('test cases', () => {
  let tests: TestsWeir;
  let flowId: string;
  before(async () => {
    tests = await startTestsWeir({ WEIR_JUDGE_MODEL: 'demo/judge' });
  });
  beforeEach(async () => {
    flowId = await tests.draft([passthrough('a')]);
  });
  after(() => tests.stop());

  const create = (more: object = {}, caller = tests.ada) => {
    const input = { flow_id: flowId, name: 'n', message: '', expectation: { type: 'equals', value: 1 } };
    return createTestCase(tests.deps, caller, newTestCase.parse({ ...input, ...more }));
  };
  const listCases = async () => {
    const { db } = tests.deps;
    const ids = (await listTestCases(db, flowId)).map(({ id }) => id);
    return loadTestCases(db, ids);
  };
  const auditLogOf = (testCaseId: string) =>
    tests.deps.db
      .selectFrom('audit_entry')
      .select(['action', 'actor', 'details'])
      .where('resource_id', '=', testCaseId)
      .orderBy('created_at')
      .execute();

  it('are replaced by one of the same name, and recorded in the audit log in the same transaction', async () => {
    const first = await create();
    const second = await create({ message: 'other', parameters: { p: '\u0000' } });
    assert.deepEqual(second, { test_case_id: first.test_case_id, created: false });
    const [row, ...others] = await listCases();
    assert.deepEqual([row?.input, others], [{ message: 'other', parameters: { p: '\u0000' } }, []]);
    const unrecordable = { ...tests.ada, author: { actor: 'ada', requestId: 'no\u0000text' } };
    await assert.rejects(create({ message: 'third' }, unrecordable), /byte sequence/);
    assert.equal((await findTestCase(tests.deps.db, first.test_case_id))?.input.message, 'other');
    await deleteTestCase(tests.deps, tests.ada, first.test_case_id);
    assert.deepEqual(await listCases(), []);
    const entry = { actor: 'ada', details: { flow_id: flowId, name: 'n' } };
    assert.deepEqual(await auditLogOf(first.test_case_id), [
      { ...entry, action: 'test_case.create' },
      { ...entry, action: 'test_case.replace' },
      { ...entry, action: 'test_case.delete' },
    ]);
  });

  it('are deleted once, and recorded once, when several delete them at once', async () => {
    const { test_case_id: id } = await create();
    const deletions = Array.from({ length: 4 }, () => deleteTestCase(tests.deps, tests.ada, id));
    const failed = (await Promise.allSettled(deletions)).filter((one) => one.status === 'rejected');
    assert.equal(failed.length, 3);
    for (const { reason } of failed) assert.equal(reason.code, 'NOT_FOUND');
    const actions = (await auditLogOf(id)).map(({ action }) => action);
    assert.deepEqual(actions, ['test_case.create', 'test_case.delete']);
  });

  it('name the model that judges, the default unless given', async () => {
    const judge = { type: 'judge', criteria: 'c' };
    await create({ name: 'default', expectation: judge });
    await create({ name: 'given', expectation: { ...judge, model: 'demo/other' } });
    const rows = await listCases();
    assert.deepEqual(
      rows.map(({ expectation }) => expectation),
      [
        { ...judge, model: 'demo/judge' },
        { ...judge, model: 'demo/other' },
      ],
    );
    const config = { ...tests.deps.config, judgeModel: undefined };
    await assert.rejects(
      createTestCase({ ...tests.deps, config }, tests.ada, {
        flow_id: flowId,
        name: 'none',
        message: '',
        expectation: { type: 'judge', criteria: 'c' },
      }),
      { code: 'VALIDATION_ERROR', message: /^expectation\.model: is required/ },
    );
  });

  const refused: [string, object, string][] = [
    [
      'a model that is not known',
      { expectation: { type: 'judge', criteria: 'c', model: 'nobody/x' } },
      'VALIDATION_ERROR',
    ],
    [
      'a schema that is none',
      { expectation: { type: 'json_schema', schema: { type: 'nonsense' } } },
      'SCHEMA_INVALID',
    ],
    [
      'a schema that checks nothing',
      { expectation: { type: 'json_schema', schema: { team: 'string' } } },
      'SCHEMA_INVALID',
    ],
    ['too much text', { message: 'x'.repeat(500_000) }, 'VALIDATION_ERROR'],
    ['a reserved parameter', { parameters: { attachments: [] } }, 'PARAMETER_NAME_RESERVED'],
  ];
  for (const [what, more, code] of refused)
    it(`with ${what} are refused`, () => assert.rejects(create(more), { code }));

  const misshapen: [string, object][] = [
    ['an unknown type', { expectation: { type: 'matches', text: 'x' } }],
    ['no text', { expectation: { type: 'contains' } }],
    ['no value', { expectation: { type: 'equals' } }],
    ['a further field', { expectation: { type: 'contains', text: 'x', more: 1 } }],
    ['no name', { name: '' }],
    ['U+0000 in the name', { name: 'a\u0000' }],
  ];
  for (const [what, more] of misshapen)
    it(`with ${what} are refused`, () => assert.throws(() => create(more), { name: 'ZodError' }));

  it(`are at most ${TEST_CASES_MAX} of one flow, also when they are made at once`, async () => {
    await tests.deps.db
      .insertInto('test_case')
      .values(
        Array.from({ length: TEST_CASES_MAX - 1 }, (_, index) => ({
          flow_id: flowId,
          name: `made ${index}`,
          input: '{"message":"","parameters":{}}',
          expectation: '{"type":"equals","value":1}',
        })),
      )
      .execute();
    const results = await Promise.allSettled(
      Array.from({ length: 5 }, (_, index) => create({ name: `new ${index}` })),
    );
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const result of results)
      if (result.status === 'rejected') assert.equal(result.reason.code, 'CONFLICT');
    await create({ name: 'made 1', message: 'replaced' });
  });
});
