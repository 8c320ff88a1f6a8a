import assert from 'node:assert/strict';
import { useTools } from './tools-harness.ts';

const NAMES = Object.getOwnPropertyNames(Object.prototype).filter((name) => name !== '__proto__');
const OBJECT = Object.fromEntries(NAMES.map((name) => [name, { [name]: [name] }]));
const SCHEMA = { type: 'object', properties: OBJECT, required: NAMES };

describe('keys that every object inherits, in the tools of MCP', () => {
  const { ask, call, createFlow, add } = useTools();

  it('are kept in schemas, parameters, expectations and results', async () => {
    const flow_id = await createFlow();
    const { step_id } = await add(flow_id, 'Same', { processor_type: 'code' });
    await ask('update_block_draft', { flow_id, step_id, content: 'return parameters;' });
    const content = {
      ...SCHEMA,
      properties: Object.fromEntries(NAMES.map((name) => [name, { type: 'object' }])),
    };
    await ask('update_block_output_schema', { flow_id, step_id, content });
    const expectation = { type: 'equals', value: OBJECT };
    await ask('create_test_case', { flow_id, name: 'Same', message: '', parameters: OBJECT, expectation });
    const { results } = await ask('run_all_tests', { flow_id });
    assert.deepEqual([results[0].status, results[0].answer], ['passed', OBJECT]);
    const { steps } = await ask('get_flow', { flow_id });
    assert.deepEqual(steps[0].outputSchema ?? steps[0].output_schema, content);
  });

  it('are no arguments of a tool unless it has them', async () => {
    for (const name of NAMES) {
      const { isError, text } = await call('list_projects', { [name]: 1 });
      assert.deepEqual([isError, text.includes(`${name}: is not a known field`)], [true, true], text);
    }
  });
});
