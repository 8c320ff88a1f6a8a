import assert from 'node:assert/strict';
import { cut, formatEvent, HEARTBEAT, RETRY } from '../../../api/http/event-stream.ts';
import { JsonText } from '../../../api/http/write-json.ts';
import { LINE_ENDS, readEvents } from '../../python-lines.ts';

describe('the pieces of an event', () => {
  for (const before of ['', 'x', 'xx'])
    it(`keep the halves of characters together, ${before.length} before the first`, () => {
      const text = before + '\u{1F30A}'.repeat(100_000);
      const pieces = [...cut(text)].map((piece) => Buffer.from(piece));
      assert(pieces.length > 2);
      assert.equal(Buffer.concat(pieces).toString(), text);
    });
});

describe('an event', () => {
  it('is one line of JSON, also where its output has line breaks between its values', () => {
    const text = formatEvent('1', 'block_completed', { output: new JsonText('{"a":\r\n"\\n"}') });
    const [id, name, data = '', ...rest] = text.split(/\r\n|\r|\n/);
    assert.deepEqual([id, name, rest], ['id: 1', 'event: block_completed', ['', '']]);
    assert.deepEqual(JSON.parse(data.slice('data: '.length)), { output: { a: '\n' } });
  });

  it('has no character at which some readers split lines', () => {
    const output = { [`key${LINE_ENDS}`]: `text${LINE_ENDS}` };
    for (const data of [{ output }, { output: new JsonText(JSON.stringify(output)) }]) {
      const [event, ...others] = readEvents(formatEvent('1', 'block_completed', data));
      assert.deepEqual([event?.event, others], ['block_completed', []]);
      assert.deepEqual(JSON.parse(event?.data ?? ''), { output });
    }
  });

  it('is what each empty line ends: neither a heartbeat nor the time to reconnect has one', () => {
    for (const text of [HEARTBEAT, RETRY]) assert.match(text, /^[^\n]+\n$/);
  });
});
