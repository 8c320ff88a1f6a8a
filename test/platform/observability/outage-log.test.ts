import assert from 'node:assert/strict';
import { withLogContext } from '../../../platform/observability/log.ts';
import { createOutageLog } from '../../../platform/observability/outage-log.ts';
import { captureLog } from '../../capture-log.ts';

describe('an outage in the log', () => {
  let now = 0;
  let captured: ReturnType<typeof captureLog>;
  beforeEach(() => {
    now = 1_000;
    captured = captureLog();
  });
  afterEach(() => captured.stop());

  const create = () => createOutageLog('The database', () => now);
  const linesOf = () =>
    captured.lines.map(({ level, msg, reason, failures, away_s }) => [level, msg, reason, failures, away_s]);

  it('is a line when it begins, one a minute while it lasts and one when it is over, however many meet it', () => {
    const outage = create();
    outage.works();
    for (let second = 0; second <= 130; second += 1) {
      outage.failed(`refused ${second}`);
      outage.failed('refused too');
      now += 1_000;
    }
    outage.works();
    now += 4_000;
    outage.works();
    outage.works();
    assert.deepEqual(linesOf(), [
      ['warn', 'The database is away: what needs it fails or waits.', 'refused 0', undefined, undefined],
      ['warn', 'The database is still away.', 'refused 60', 121, 60],
      ['warn', 'The database is still away.', 'refused 120', 241, 120],
      ['info', 'The database is back.', undefined, 262, 135],
    ]);
  });

  it('has the fields of no request, whichever found it out first', () => {
    withLogContext({ execution_id: 'a-run' }, () => create().failed('refused'));
    assert.deepEqual(
      captured.lines.map(({ reason, execution_id }) => [reason, execution_id]),
      [['refused', undefined]],
    );
  });

  it('is a line more, with the reason, when the part is back but for what it refuses', () => {
    const outage = create();
    outage.failed('lost');
    for (let times = 0; times < 2; times += 1) outage.failed('read-only', { inPart: true });
    assert.deepEqual(
      linesOf().map(([, msg, reason]) => [msg, reason]),
      [
        ['The database is away: what needs it fails or waits.', 'lost'],
        ['The database is still away.', 'read-only'],
      ],
    );
  });

  it('is one while the part comes and goes', () => {
    const outage = create();
    for (let times = 0; times < 10; times += 1) {
      outage.failed('lost');
      outage.works();
      now += 4_000;
    }
    assert.equal(captured.lines.length, 1);
  });

  it('in part is over only when the part is whole again, which is asked every five seconds', async () => {
    const outage = create();
    let whole = false;
    let asked = 0;
    const isWhole = async () => {
      asked += 1;
      return whole;
    };
    outage.failed('no room', { inPart: true });
    for (let second = 0; second < 20; second += 1) {
      now += 1_000;
      outage.works();
      outage.works(isWhole);
      await new Promise(setImmediate);
    }
    assert.equal(captured.lines.length, 1);
    assert.equal(asked, 4);
    whole = true;
    now += 5_000;
    outage.works(isWhole);
    await new Promise(setImmediate);
    assert.deepEqual(linesOf().at(-1), ['info', 'The database is back.', undefined, 1, 25]);
  });

  it('is none of the request that meets it', () => {
    const outage = create();
    withLogContext({ request_id: 'req_1' }, () => outage.failed('lost'));
    assert.equal(captured.lines[0]?.request_id, undefined);
  });
});
