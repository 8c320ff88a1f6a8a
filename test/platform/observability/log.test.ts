import assert from 'node:assert/strict';
import { addToLogContext, log, readableLine, withLogContext } from '../../../platform/observability/log.ts';
import { captureLog } from '../../capture-log.ts';

describe('the log', () => {
  let captured: ReturnType<typeof captureLog>;
  beforeEach(() => {
    captured = captureLog();
  });
  afterEach(() => captured.stop());

  it('has the fields of its context in each line, also those that became known later, and only inside it', async () => {
    await withLogContext({ request_id: 'r' }, async () => {
      await Promise.resolve();
      addToLogContext({ execution_id: 'e' });
      await withLogContext({ block: 'b' }, async () => log.info('inner'));
      log.info('outer');
    });
    log.info('beside');
    assert.deepEqual(
      captured.lines.map(({ msg, request_id, execution_id, block }) => [
        msg,
        request_id,
        execution_id,
        block,
      ]),
      [
        ['inner', 'r', 'e', 'b'],
        ['outer', 'r', 'e', undefined],
        ['beside', undefined, undefined, undefined],
      ],
    );
  });

  it('keeps an error on one line, with its cause, and in bounded size', () => {
    const cause = new Error(`connect ECONNREFUSED ${'y'.repeat(100_000)}`);
    log.error({ err: new Error('x'.repeat(100_000), { cause }) }, 'It failed.');
    log.error({ err: 'no error' }, 'It failed.');
    const [first, second] = captured.lines.map(({ err }) => err as { [field: string]: string });
    assert.equal(first?.type, 'Error');
    assert.match(first?.cause ?? '', /^connect ECONNREFUSED/);
    assert.ok(JSON.stringify(first).length < 30_000);
    assert.equal(second?.message, 'no error');
  });

  it('takes an error without a stack', () => {
    log.error({ err: Object.assign(new Error('bare'), { stack: undefined }) }, 'It failed.');
    assert.match(JSON.stringify(captured.lines), /"message":"bare"/);
  });

  it('escapes what would end a line', () => {
    log.info({ reason: 'a\n{"level":"error","msg":"forged"}' }, 'b\nc');
    assert.equal(captured.lines.length, 1);
  });

  it('is readable on a terminal, where other lines stay as they are', () => {
    const line = JSON.stringify({
      level: 'warn',
      time: new Date().toISOString(),
      pid: 1,
      request_id: 'r',
      msg: 'Away.',
    });
    assert.match(readableLine(line), /^\[\d\d:\d\d:\d\d\.\d{3}\] WARN: Away\. \{"request_id":"r"\}\n$/);
    assert.equal(readableLine('no line of the log').trim(), 'no line of the log');
  });
});
