import assert from 'node:assert/strict';
import { findSyntaxError } from '../../../../console/ui/code-editor/languages/javascript.ts';

describe('findSyntaxError', () => {
  it('accepts the body of an async function', () => {
    assert.equal(findSyntaxError('const a = await input;\nreturn { a };'), undefined);
    assert.equal(findSyntaxError(''), undefined);
  });

  it('finds the first error', () => {
    const source = 'const a = 1;\nreturn { a, ;';
    assert.equal(findSyntaxError(source)?.at, source.indexOf(';', 15));
  });

  it('finds a brace that was not opened', () => {
    assert.equal(findSyntaxError('return 1; }')?.at, 10);
  });

  it('gives a message without a line: the editor shows the position', () => {
    assert.equal(findSyntaxError('return (')?.message, 'Unexpected token.');
  });
});
