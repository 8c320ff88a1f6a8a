import assert from 'node:assert/strict';
import { createCompiledSchemas } from '../../../platform/json-schema/compile-schema.ts';
import { COMPILED_MAX } from '../../../platform/json-schema/limits.ts';

describe('compiled schemas', () => {
  it('are kept for each organization, however many another has compiled', () => {
    const compile = createCompiledSchemas();
    const own = compile('acme', '{"type":"string"}');
    for (let index = 0; index < COMPILED_MAX; index++) compile('other', `{"title":"${index}"}`);
    assert.equal(compile('acme', '{"type":"string"}'), own);
    assert.deepEqual(own(1).length, 1);
  });

  it('are as many as a thread may keep', () => {
    const compile = createCompiledSchemas();
    const first = compile('acme', '{"title":"first"}');
    for (let index = 1; index < COMPILED_MAX; index++) compile('acme', `{"title":"${index}"}`);
    assert.equal(compile('acme', '{"title":"first"}'), first);
    compile('acme', '{"title":"one more"}');
    const second = compile('acme', '{"title":"1"}');
    assert.equal(compile('acme', '{"title":"1"}'), second);
    compile('acme', '{"title":"2"}');
    assert.equal(compile('acme', '{"title":"first"}'), first);
  });
});
