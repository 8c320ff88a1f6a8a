import assert from 'node:assert/strict';
import { findUnknownVariables, renderTemplate, type TemplateValues } from '../../flow/template.ts';

describe('renderTemplate', () => {
  const values: TemplateValues = {
    message: 'hi',
    previousOutput: { a: 1 },
    parameters: { tone: 'dry', n: 3 },
  };
  const table: [string, string, string, Partial<TemplateValues>?][] = [
    ['inserts the message', '<{{message}}>', '<hi>'],
    ['inserts the previous output as JSON', '{{previous_output}}', '{"a":1}'],
    ['inserts a string output as it is', '{{previous_output}}', 'text', { previousOutput: 'text' }],
    ['inserts parameters', '{{parameters.tone}} {{ parameters.n }}', 'dry 3'],
    ['inserts nothing for an absent parameter', '[{{parameters.other}}]', '[]'],
    ['does not reach inherited properties', '[{{parameters.constructor}}]', '[]'],
    ['leaves other braces alone', '{{unknown}} {message} {{}}', '{{unknown}} {message} {{}}'],
    [
      'never interprets inserted text again',
      '{{message}}',
      '{{previous_output}}',
      { message: '{{previous_output}}' },
    ],
    ['inserts replacement patterns as they are', '{{message}}', "$& $1 $' $$", { message: "$& $1 $' $$" }],
  ];
  for (const [rule, template, expected, more] of table)
    it(rule, () => assert.equal(renderTemplate(template, { ...values, ...more }), expected));

  it('knows what looks like a variable and is none', () => {
    const template =
      '{{message}} {{ parameters.a }} {{a}} {{#if a}} {{a}} {{}} {a} {{ {{message}} }} {{a\nb}}';
    assert.deepEqual(findUnknownVariables(template), ['{{a}}', '{{#if a}}', '{{a\nb}}']);
  });
});
