import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { findRefusedSchemas } from '../../../api/flows/draft-problems.ts';
import { passthrough } from '../../blocks.ts';

const ENDLESS = { $ref: '#' };

describe('the JSON Schemas of a stored flow', () => {
  afterEach(() => {
    mock.restoreAll();
  });

  const stepsOf = (schemas: object[]) =>
    schemas.map((inputSchema, index) =>
      passthrough(`s${index}`, { inputSchema: inputSchema as Record<string, never> }),
    );

  it('are checked for some milliseconds at a time: other requests run in between', async () => {
    let now = 0;
    // So much time passes between two looks at the clock.
    mock.method(performance, 'now', () => {
      now += 6;
      return now;
    });
    let isChecked = false;
    const schemas = Array.from({ length: 8 }, (_, index) => ({ title: String(index) }));
    const checking = findRefusedSchemas({ steps: stepsOf(schemas) }).finally(() => {
      isChecked = true;
    });
    await setImmediate();
    assert.equal(isChecked, false);
    assert.deepEqual(await checking, []);
  });

  it('are refused where they could not be used', async () => {
    const problems = await findRefusedSchemas({ steps: stepsOf([{}, ENDLESS, {}, ENDLESS]) });
    assert.deepEqual(
      problems.map(({ path }) => path),
      [
        ['steps', 1, 'inputSchema'],
        ['steps', 3, 'inputSchema'],
      ],
    );
  });
});
