// The flow files that this repository holds, and the schema that it gives to editors.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { findSchemaProblems } from '../../../api/flows/file-problems.ts';
import { parseFlowFile } from '../../../api/flows/flow-file.ts';
import { flowFileJsonSchema, SCHEMA_FILE } from '../../../api/flows/write-json-schema.ts';
import { parseTestCases } from '../../../cli/flows/flow-files.ts';
import { createValidator } from '../../../platform/json-schema/validator.ts';
import { yaml } from './flow-file-fixture.ts';

const ROOT = path.join(import.meta.dirname, '../../..');

describe('flow files of this repository', () => {
  it('docs/flow-file.schema.json is what the service validates with', () => {
    assert.equal(readFileSync(SCHEMA_FILE, 'utf8'), flowFileJsonSchema());
  });

  const examples = path.join(ROOT, 'examples');
  for (const name of readdirSync(examples).filter((each) => each.endsWith('.yaml')))
    it(`examples/${name} can be imported, and editors find its schema`, async () => {
      const text = readFileSync(path.join(examples, name), 'utf8');
      const { slug, steps } = parseFlowFile(text, 'yaml');
      const validator = createValidator();
      assert.deepEqual(
        await findSchemaProblems({ steps }, validator.of('organization').requireValidSchema),
        [],
      );
      await validator.close();
      assert.equal(`${slug}.yaml`, name);
      assert.match(text, /^# yaml-language-server: \$schema=\.\.\/docs\/flow-file\.schema\.json\n/);
    });

  for (const [page, count] of Object.entries({ 'flow-file': 5, 'quick-start': 2, 'own-model': 1 }))
    it(`docs/${page}.md holds examples that can be pushed`, () => {
      const text = readFileSync(path.join(ROOT, `docs/${page}.md`), 'utf8');
      const examples = [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].map((match) => match[1] ?? '');
      assert.ok(examples.length >= count);
      for (const example of examples)
        if (example.startsWith('- ')) parseTestCases(example);
        else parseFlowFile(example.startsWith('name:') ? example : yaml(example), 'yaml');
    });
});
