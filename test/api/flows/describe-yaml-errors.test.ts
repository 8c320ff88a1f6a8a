// A text that is not YAML is refused with advice.
import assert from 'node:assert/strict';
import { refusal, yaml } from './flow-file-fixture.ts';

describe('describeYamlErrors', () => {
  it('names each line that is not YAML once, with the others that hold what is not accepted', () => {
    const { problems } = refusal(
      yaml(`  - prompt: {{message}}
  - prompt: Sum up: {{message}}
  - prompt: {{message}} and {{steps.x}}
  - { name: a, name: b }
`),
    );
    assert.deepEqual(
      problems.map(({ line, path }) => `${line} ${path}`),
      ['4 steps[0].prompt', '5 steps[1].prompt', '6 steps[2].prompt', '7 steps[3].name'],
    );
    for (const { message } of problems.slice(0, 3)) assert.match(message, /in quotes/);
  });
});
