import assert from 'node:assert/strict';
import { findVariables } from '../../../../console/ui/code-editor/find-variables.ts';

describe('findVariables', () => {
  const found = (prompt: string) => findVariables(prompt).map(({ name, isKnownForm }) => [name, isKnownForm]);

  it('finds variables with their paths, with space inside the braces too', () => {
    assert.deepEqual(found('{{message}} {{ steps.extract.items.0 }} {{parameters.a-b}}'), [
      ['message', true],
      ['steps.extract.items.0', true],
      ['parameters.a-b', true],
    ]);
  });

  it('finds texts that only look like variables', () => {
    assert.deepEqual(found('{{mesage}} {{steps}} {{items[0]}}'), [
      ['mesage', false],
      ['steps', false],
      ['items[0]', false],
    ]);
  });

  it('ignores other text in braces', () => {
    assert.deepEqual(found('{"a": {"b": 1}} {{"a"}} {{}} {{1}} {message}'), []);
  });

  it('ignores escaped braces', () => {
    assert.deepEqual(found(String.raw`\{{message}} \{{ customer }} \\{{message}}`), [['message', true]]);
  });

  it('returns where each begins and ends', () => {
    const prompt = 'a {{ message }} b';
    const [{ from, to } = { from: 0, to: 0 }] = findVariables(prompt);
    assert.equal(prompt.slice(from, to), '{{ message }}');
  });
});
