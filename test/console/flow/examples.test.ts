import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import examples from '../../../console/flow/examples.json' with { type: 'json' };

const ROOT = path.join(import.meta.dirname, '../../..');

describe('the examples of the console', () => {
  for (const example of examples)
    it(`has ${example.slug} as it is in examples/`, () => {
      const file = parse(readFileSync(path.join(ROOT, 'examples', `${example.slug}.yaml`), 'utf8'));
      assert.deepEqual(example, { description: '', ...file });
    });
});
