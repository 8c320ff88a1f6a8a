import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { findSchemaProblems } from '../../../api/flows/file-problems.ts';
import { ServiceError } from '../../../flow/errors.ts';
import { passthrough } from '../../blocks.ts';

describe('the JSON Schemas of a flow', () => {
  let now = 0;
  beforeEach(() => {
    mock.method(performance, 'now', () => now);
  });
  afterEach(() => {
    mock.restoreAll();
  });

  /** Checks a flow of ten schemas, each of which takes a second; `isWrong` by their number. */
  async function check(isWrong: (schema: number) => boolean): Promise<{ checked: number; problems: number }> {
    let checked = 0;
    const steps = Array.from({ length: 10 }, (_, index) => ({
      ...passthrough(`s${index}`),
      inputSchema: {},
    }));
    const problems = await findSchemaProblems({ steps }, async () => {
      now += 1_000;
      checked += 1;
      if (isWrong(checked)) throw new ServiceError('SCHEMA_INVALID', 'takes too long');
    });
    return { checked, problems: problems.length };
  }

  it('are all checked where they are right, however long that takes', async () => {
    assert.deepEqual(await check(() => false), { checked: 10, problems: 0 });
  });

  it('let others go on after each that is refused at once', async () => {
    let others = 0;
    const goOn = () => {
      others += 1;
      next = setImmediate(goOn);
    };
    let next = setImmediate(goOn);
    const seen: number[] = [];
    const steps = Array.from({ length: 4 }, (_, index) => ({ ...passthrough(`s${index}`), inputSchema: {} }));
    await findSchemaProblems({ steps }, async () => {
      seen.push(others);
      throw new ServiceError('SCHEMA_INVALID', 'refused');
    });
    clearImmediate(next);
    assert.equal(new Set(seen).size, 4, String(seen));
  });

  it('are checked no further once one is wrong and they have taken three seconds', async () => {
    assert.deepEqual(await check(() => true), { checked: 4, problems: 4 });
    assert.deepEqual(await check((schema) => schema === 7), { checked: 7, problems: 1 });
  });
});
