import assert from 'node:assert/strict';
import { ServiceError } from '../../../flow/errors.ts';
import { createThreadPool } from '../../../platform/json-schema/thread-pool.ts';
import { createValidator, type Validator } from '../../../platform/json-schema/validator.ts';

describe('a JSON Schema whose thread gets no processor', () => {
  let validator: Validator;
  before(() => {
    validator = createValidator(createThreadPool({ program: new URL('idle-thread.ts', import.meta.url) }));
  });
  after(() => validator.close());

  it('is checked all the same when the whole process was stopped past the deadline and goes on', async () => {
    assert.deepEqual(await validator.of('acme').validate({ type: 'string' }, 'late'), []);
  });

  it('is not refused, but fails for a reason that callers and the engine may try again after', async () => {
    await assert.rejects(validator.of('acme').validate({ type: 'string' }, 'never'), (error) => {
      assert(error instanceof Error && !(error instanceof ServiceError), String(error));
      assert.match(error.message, /too little processor time/);
      return true;
    });
    assert.deepEqual(await validator.of('acme').validate({ type: 'string' }, 'late'), []);
  }).timeout(60_000);
});
