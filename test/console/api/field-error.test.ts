import assert from 'node:assert/strict';
import { ApiError, fieldError, otherError } from '../../../console/api/api-error.ts';

const refused = new ApiError(422, {
  code: 'VALIDATION_ERROR',
  message: 'name: must not be empty; slug: A slug must be short.',
  errors: [
    { field: 'name', message: 'must not be empty' },
    { field: 'slug', message: 'A slug must be short.' },
  ],
});

describe('the errors of a form', () => {
  it('are sentences at their fields', () => {
    assert.equal(fieldError(refused, 'name'), 'Must not be empty.');
    assert.equal(fieldError(refused, 'slug'), 'A slug must be short.');
    assert.equal(fieldError(refused, 'description'), undefined);
  });

  it('are shown as a whole unless the form has all of their fields', () => {
    assert.equal(otherError(refused, ['name', 'slug']), undefined);
    assert.equal(otherError(refused, ['name']), refused);
  });

  it('that name no field are shown as a whole', () => {
    const conflict = new ApiError(409, { code: 'CONFLICT', message: 'The slug is taken.' });
    assert.equal(fieldError(conflict, 'slug'), undefined);
    assert.equal(otherError(conflict, ['slug']), conflict);
    assert.equal(otherError(null, ['slug']), undefined);
  });
});
