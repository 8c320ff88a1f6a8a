import assert from 'node:assert/strict';
import { formatFlowFile, parseFlowFile } from '../../../api/flows/flow-file.ts';
import { escapeControls, formatTable } from '../../../cli/terminal/print.ts';
import type { Step } from '../../../flow/definition.ts';

describe('formatTable', () => {
  it('replaces control characters in names, including those that reverse text', () => {
    const name = 'a\u001b[31m\u202eb\u2066c\u2028d\ne';
    const text = formatTable(['slug', 'name'], [['x', name]], '');
    assert.equal(text, 'SLUG  NAME\nx     a\ufffd[31m\ufffdb\ufffdc d e');
  });
});

describe('escapeControls', () => {
  it('escapes control characters, and those that reverse text, so that JSON reads as before, and leaves line feeds and tabs', () => {
    const value = { text: 'a\u009b31m\u007f\u001b\r\n\tb' };
    const text = escapeControls(JSON.stringify(value, null, 2));
    assert.match(text, /^\{\n {2}"text": "a\\u009b31m\\u007f\\u001b\\r\\n\\tb"\n\}$/);
    assert.deepEqual(JSON.parse(text), value);
    assert.equal(escapeControls('a\u001b[2J\n\tb'), 'a\\u001b[2J\n\tb');
    assert.equal(escapeControls('a\u202eb\u2066\u200f'), 'a\\u202eb\\u2066\u200f');
  });

  it('leaves a flow that is printed as YAML the same flow', () => {
    for (const prompt of [
      'a\u202eb',
      'one\n\u2066two\n\tthree\n',
      'a\u009b31m\u007f\u001b\r',
      "- '\u202e'",
    ]) {
      const block = {
        type: 'sequential',
        step_id: 'b',
        name: prompt,
        processor_type: 'passthrough',
      } as const;
      const steps: Step[] = [
        {
          type: 'parallel',
          step_id: 'p',
          name: 'p',
          branches: { [prompt]: [{ ...block, prompt }] },
        },
      ];
      const file = { name: 'Flow', slug: 'flow', steps };
      assert.deepEqual(parseFlowFile(escapeControls(formatFlowFile(file, 'yaml')), 'yaml'), file);
    }
  });
});
