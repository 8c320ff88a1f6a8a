import assert from 'node:assert/strict';
import type { Step } from '../../../../console/flow/draft/steps.ts';
import { listParameters, variableScope } from '../../../../console/flow/inspector/variable-scope.ts';

const llm = (step_id: string, prompt: string, outputSchema?: object): Step =>
  ({
    ...{ type: 'sequential', step_id, name: step_id, processor_type: 'llm', model: 'demo/chat', prompt },
    ...(outputSchema && { outputSchema }),
  }) as Step;
const SCHEMA = {
  type: 'object',
  properties: {
    topic: { type: 'string' },
    people: { type: 'array', items: { type: 'object', properties: { age: { type: 'integer' } } } },
  },
  additionalProperties: false,
};
const STEPS: Step[] = [
  llm('extract', '{{message}} for {{parameters.user.name}}', SCHEMA),
  {
    type: 'parallel',
    step_id: 'views',
    name: 'Views',
    branches: { short: [llm('sum-up', '')], long: [llm('tell', '', SCHEMA)] },
  },
  {
    type: 'loop',
    step_id: 'each',
    name: 'Each',
    max_iterations: 3,
    body: [llm('first', ''), llm('second', '')],
  },
  llm('reply', ''),
];
const namesAt = (stepId: string) => variableScope(STEPS, stepId).variables.map(({ name }) => name);

describe('variableScope', () => {
  it('offers the steps before a block, with the fields of their JSON Schemas, branches and bodies', () => {
    assert.deepEqual(namesAt('reply'), [
      ...['message', 'previous_output', 'parameters.user.name'],
      ...['steps.extract', 'steps.extract.topic', 'steps.extract.people'],
      ...['steps.extract.people.0', 'steps.extract.people.0.age'],
      ...['steps.views', 'steps.views.short', 'steps.views.long', 'steps.views.long.topic'],
      ...['steps.views.long.people', 'steps.views.long.people.0', 'steps.views.long.people.0.age'],
      ...['steps.each', 'steps.each.0'],
    ]);
  });

  it('offers a block inside a loop the steps before the loop and before the block', () => {
    const names = namesAt('second');
    assert.ok(names.includes('steps.first'));
    assert.ok(names.includes('steps.extract'));
    assert.ok(!names.includes('steps.sum-up'));
  });

  it('says why a step cannot be read', () => {
    const { findProblem } = variableScope(STEPS, 'sum-up');
    assert.equal(findProblem('steps.extract.topic'), undefined);
    assert.match(findProblem('steps.tell') ?? '', /has not ended before this block begins/);
    assert.match(findProblem('steps.reply') ?? '', /has not ended before this block begins/);
    assert.match(findProblem('steps.nowhere') ?? '', /There is no step nowhere\. .*extract/);
  });

  it('says that a name is not a variable', () => {
    const { findProblem } = variableScope(STEPS, 'reply');
    assert.match(findProblem('mesage') ?? '', /There is no variable \{\{mesage\}\}/);
    assert.match(findProblem('steps') ?? '', /There is no variable/);
    assert.equal(findProblem('parameters.anything'), undefined);
  });

  it('says that a step has no such field or branch when other fields are not allowed', () => {
    const { findProblem } = variableScope(STEPS, 'reply');
    assert.match(findProblem('steps.extract.topics') ?? '', /has no field topics/);
    assert.match(findProblem('steps.views.medium') ?? '', /has no branch medium/);
    assert.equal(findProblem('steps.each.0.anything'), undefined);
  });
});

describe('listParameters', () => {
  it('finds the parameters in prompts and code, each once', () => {
    const code = {
      ...{ type: 'sequential', step_id: 'c', name: 'c', processor_type: 'code' },
      prompt: 'return parameters.limit + parameters?.user.name + my.parameters.no;',
    } as Step;
    assert.deepEqual(listParameters([...STEPS, code]), ['user.name', 'limit', 'user']);
  });
});
