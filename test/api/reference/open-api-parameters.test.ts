// Parameters as clients that are made from the document send them.

import assert from 'node:assert/strict';
import type { Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { readDocument } from './read-document.ts';

describe('Parameters of the API reference', () => {
  let weir: Weir;
  before(async () => {
    weir = await getSharedWeir();
  });
  after(() => weir.stop());

  type Document = { paths: { [path: string]: { [method: string]: { parameters?: Parameter[] } } } };
  type Parameter = { name: string; in: string; example?: string; schema: { [key: string]: unknown } };
  const parametersIn = async (place: string) => {
    const { paths } = await readDocument<Document>(weir.url);
    const operations = Object.values(paths).flatMap((item) => Object.values(item));
    return operations.flatMap(({ parameters = [] }) => parameters.filter((one) => one.in === place));
  };

  it('have no example that the page would send on its own', async () => {
    const optional = [...(await parametersIn('header')), ...(await parametersIn('query'))];
    assert.ok(optional.some(({ name }) => name === 'X-Weir-Model-Key'));
    for (const { name, example, schema } of optional)
      assert.equal(example ?? schema.example ?? schema.examples, undefined, name);
  });

  it('number versions from 1', async () => {
    const versions = (await parametersIn('path')).filter(({ name }) => name === 'version');
    assert.ok(versions.length > 0);
    for (const { schema } of versions) assert.deepEqual(schema, { type: 'integer', minimum: 1 });
  });

  it('say how many entries a page may hold and holds', async () => {
    const limits = (await parametersIn('query')).filter(({ name }) => name === 'limit');
    assert.ok(limits.length >= 12);
    for (const { schema } of limits) {
      const { type, minimum, maximum, pattern } = schema;
      assert.deepEqual({ type, minimum, maximum, pattern }, LIMIT);
      assert.ok(schema.default === 50 || schema.default === 200, JSON.stringify(schema));
    }
  });
});

const LIMIT = { type: 'integer', minimum: 1, maximum: 200, pattern: undefined };
