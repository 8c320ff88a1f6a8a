import assert from 'node:assert/strict';
import { JsonText, writeJson } from '../../../api/http/write-json.ts';

describe('writeJson', () => {
  it('writes what JSON.stringify writes', () => {
    const date = new Date(0);
    for (const object of [{}, { a: 1 }, { 'a"': undefined, b: null, c: [undefined], date, d: { e: 'é' } }])
      assert.equal(writeJson(object), JSON.stringify(object));
  });

  it('passes JSON text on as it is', () => {
    const text = '{"number": 1.0, "list": [ ]}';
    assert.equal(writeJson({ a: 1, result: new JsonText(text), b: 2 }), `{"a":1,"result":${text},"b":2}`);
    assert.equal(writeJson(new JsonText(text)), text);
  });
});
