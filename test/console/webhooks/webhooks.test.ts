import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describeSchedule } from '../../../console/webhooks/describe-schedule.ts';
import { readDeliveryFilter } from '../../../console/webhooks/search.ts';
import { VERIFY_PYTHON, VERIFY_TYPESCRIPT } from '../../../console/webhooks/verify-snippets.ts';

const EXAMPLES = new URL('../../../examples/webhooks/', import.meta.url);

describe('the code that verifies webhooks, in the console', () => {
  for (const [file, code] of [
    ['verify.ts', VERIFY_TYPESCRIPT],
    ['verify.py', VERIFY_PYTHON],
  ] as const)
    it(`is that of examples/webhooks/${file}`, () =>
      assert.equal(code, readFileSync(new URL(file, EXAMPLES), 'utf8')));
});

describe('the remaining attempts', () => {
  it('are those after the next one', () =>
    assert.match(
      describeSchedule({ status: 'failed_retry', attempt: 1 }) ?? '',
      /4 more follow.*: 5 minutes, 30 minutes, 2 hours, 12 hours\./,
    ));
  it('are one after the fourth failed', () =>
    assert.match(
      describeSchedule({ status: 'failed_retry', attempt: 4 }) ?? '',
      /the last one follows after 12 hours\./,
    ));
  it('are none after the sixth', () => {
    assert.equal(
      describeSchedule({ status: 'failed_retry', attempt: 5 }),
      'The next attempt is the last one.',
    );
    assert.match(describeSchedule({ status: 'dead_letter', attempt: 6 }) ?? '', /dead letter/);
  });
  it('are not described while the first one is in flight or has succeeded', () => {
    assert.equal(describeSchedule({ status: 'in_flight', attempt: 1 }), undefined);
    assert.equal(describeSchedule({ status: 'succeeded', attempt: 1 }), undefined);
  });
});

describe('the filter of deliveries in the address', () => {
  it('keeps known values and drops the rest', () => {
    const run = '8151bc7d-a98b-45b4-8367-bf66fd34ba0d';
    const search = { status: 'dead_letter', event: 'flow.failed', run, page: 3 };
    assert.deepEqual(readDeliveryFilter(search), { status: 'dead_letter', event: 'flow.failed', run });
    assert.deepEqual(readDeliveryFilter({ status: 'lost', event: 1, run: '<script>' }), {});
  });
});
