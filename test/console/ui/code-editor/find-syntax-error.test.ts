import assert from 'node:assert/strict';
import { findSyntaxError } from '../../../../console/ui/code-editor/find-syntax-error.ts';

describe('findSyntaxError', () => {
  it('takes the body of an async function', () => {
    assert.equal(findSyntaxError('const a = await input;\nreturn { a };'), undefined);
    assert.equal(findSyntaxError(''), undefined);
  });

  it('finds where the code stops making sense', () => {
    const source = 'const a = 1;\nreturn { a, ;';
    assert.equal(findSyntaxError(source)?.at, source.indexOf(';', 15));
  });

  it('finds a brace that was not opened', () => {
    assert.equal(findSyntaxError('return 1; }')?.at, 10);
  });

  it('says it without a line of its own: the editor shows the place', () => {
    assert.equal(findSyntaxError('return (')?.message, 'Unexpected token.');
  });
});
