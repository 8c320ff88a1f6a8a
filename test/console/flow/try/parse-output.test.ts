import assert from 'node:assert/strict';
import { parseOutput } from '../../../../console/flow/try/try-input.ts';

describe('a typed output', () => {
  it('is its JSON value', () => {
    assert.deepEqual(parseOutput('{"a": [1]}'), { value: { a: [1] } });
    assert.deepEqual(parseOutput('null'), { value: null });
  });

  it('is refused with a sentence when it is not JSON', () => {
    assert.match(parseOutput('{"a": ').error ?? '', /^The output must be JSON: /);
    assert.match(parseOutput('').error ?? '', /must be JSON/);
  });
});
