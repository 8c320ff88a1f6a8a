import assert from 'node:assert/strict';
import { deriveStepId } from '../../flow/step-path.ts';

describe('deriveStepId', () => {
  for (const [what, name, taken, id] of [
    ['the words of the name', 'Sum it up!', [], 'sum-it-up'],
    ['the fallback for a name without letters', '…', [], 'llm'],
    ['the first number that is free', 'Sum', ['sum', 'sum-2', 'sum-4'], 'sum-3'],
  ] as const)
    it(`makes ${what}`, () => assert.equal(deriveStepId(name, 'llm', new Set(taken)), id));

  it('tries each number once for all steps of a name, passing over those in use', () => {
    let looks = 0;
    const taken = new (class extends Set<string> {
      override has(id: string) {
        looks += 1;
        return super.has(id);
      }
    })(['code-3']);
    const numbers = new Map<string, number>();
    const ids = Array.from({ length: 1_000 }, () => {
      const id = deriveStepId('', 'code', taken, numbers);
      taken.add(id);
      return id;
    });
    assert.deepEqual(ids.slice(0, 3), ['code', 'code-2', 'code-4']);
    assert.equal(new Set(ids).size, 1_000);
    assert.ok(looks <= 3_000, `${looks} looks`);
  });
});
