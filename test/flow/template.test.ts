import assert from 'node:assert/strict';
import type { Json } from '../../flow/definition.ts';
import { RENDERED_PROMPT_MAX_CHARS } from '../../flow/limits.ts';
import {
  findUnknownVariables,
  listTemplateSteps,
  renderTemplate,
  type TemplateValues,
} from '../../flow/template.ts';

describe('renderTemplate', () => {
  const values: TemplateValues = {
    message: 'hi',
    previousOutput: { a: 1 },
    parameters: { tone: 'dry', n: 3, user: { names: ['Ada'] } },
    outputs: { extract: { items: [{ name: 'Ada' }] }, 'two-views': 'text', empty: null },
  };
  const table: [string, string, string, Partial<TemplateValues>?][] = [
    ['inserts the message', '<{{message}}>', '<hi>'],
    ['inserts the previous output as JSON', '{{previous_output}}', '{"a":1}'],
    ['inserts a string output as it is', '{{previous_output}}', 'text', { previousOutput: 'text' }],
    ['inserts parameters', '{{parameters.tone}} {{ parameters.n }}', 'dry 3'],
    ['inserts nothing for an absent parameter', '[{{parameters.other}}]', '[]'],
    [
      'inserts what a path of keys leads to',
      '{{parameters.user.names.0}} {{parameters.user}}',
      'Ada {"names":["Ada"]}',
    ],
    [
      'inserts nothing where a path leads nowhere',
      '[{{parameters.tone.length}}{{parameters.user.names.length}}]',
      '[]',
    ],
    [
      'inserts the output of a step',
      '{{steps.two-views}} {{ steps.extract.items }}',
      'text [{"name":"Ada"}]',
    ],
    ['inserts what a path in an output leads to', '{{steps.extract.items.0.name}}', 'Ada'],
    [
      'inserts nothing where a path in an output leads nowhere',
      '[{{steps.extract.items.1.name}}{{steps.two-views.0}}]',
      '[]',
    ],
    ['inserts an output that is null as JSON', '{{steps.empty}}', 'null'],
    ['leaves a step without an output as it is', '{{steps.other.a}}', '{{steps.other.a}}'],
    ['leaves steps without a name as they are', '{{steps}} {{steps.}}', '{{steps}} {{steps.}}'],
    [
      'does not reach inherited names of steps',
      '{{steps.constructor}} {{steps.toString.name}}',
      '{{steps.constructor}} {{steps.toString.name}}',
    ],
    ['does not reach inherited properties', '[{{parameters.constructor}}]', '[]'],
    ['leaves other braces alone', '{{unknown}} {message} {{}}', '{{unknown}} {message} {{}}'],
    [
      'never interprets inserted text again',
      '{{message}}',
      '{{previous_output}}',
      { message: '{{previous_output}}' },
    ],
    [
      'leaves escaped braces as text',
      String.raw`\{{ customer }} \{{message}} \{{`,
      '{{ customer }} {{message}} {{',
    ],
    ['inserts a variable after two backslashes, which are one', String.raw`\\{{message}}`, String.raw`\hi`],
    ['leaves braces as text after three backslashes', String.raw`\\\{{message}}`, String.raw`\{{message}}`],
    ['keeps other backslashes', String.raw`\\n \ {{message}} \{a}`, String.raw`\\n \ hi \{a}`],
    ['inserts a variable in further braces', '{{{message}}}', '{hi}'],
    ['inserts replacement patterns as they are', '{{message}}', "$& $1 $' $$", { message: "$& $1 $' $$" }],
  ];
  for (const [rule, template, expected, more] of table)
    it(rule, () => assert.equal(renderTemplate(template, { ...values, ...more }).build(), expected));

  it('knows the length of a text that no process could build', () => {
    const message = 'x'.repeat(9_000_000);
    const rendering = renderTemplate('<{{message}}>'.repeat(1_000), { ...values, message });
    assert.equal(rendering.length, 1_000 * (message.length + 2));
  });

  it('knows the length before it is built, whatever is inserted', () => {
    const template = 'a{{message}}b{{previous_output}}{{ parameters.n }}{{parameters.none}}{{unknown}}';
    const rendering = renderTemplate(template, values);
    assert.equal(rendering.length, rendering.build().length);
  });

  it('stops writing parts of values when the text is too long anyway', () => {
    let written = 0;
    const large = { toJSON: () => `${++written}${'x'.repeat(RENDERED_PROMPT_MAX_CHARS)}` } as unknown as Json;
    const outputs = { a: { b: { c: large, d: large, e: large } } };
    const rendering = renderTemplate('{{steps.a.b.c}}{{steps.a.b.d}}{{steps.a.b.e}}', { ...values, outputs });
    assert(rendering.length > RENDERED_PROMPT_MAX_CHARS);
    assert.equal(written, 1);
  });

  it('writes a value as JSON once, however often it is inserted', () => {
    let written = 0;
    const previousOutput = { toJSON: () => String(++written) } as unknown as Json;
    assert.equal(
      renderTemplate('{{previous_output}}'.repeat(3), { ...values, previousOutput }).build(),
      '"1"'.repeat(3),
    );
  });

  it('reads no step whose braces are escaped', () => {
    assert.deepEqual(listTemplateSteps(String.raw`\{{steps.a}} \\{{steps.b}} {{steps.c}}`), ['b', 'c']);
  });

  it('takes a time in proportion to its length, however many backslashes there are', () => {
    const template = '\\'.repeat(200_000);
    assert.equal(renderTemplate(template, values).build(), template);
  });

  it('knows what looks like a variable and is none', () => {
    const template =
      '{{message}} {{ parameters.a }} {{a}} {{#if a}} {{a}} {{}} {a} {{ {{message}} }} {{a b}} {{"a": 1}}';
    assert.deepEqual(findUnknownVariables(template), ['{{a}}', '{{a b}}']);
    assert.deepEqual(findUnknownVariables(String.raw`\{{ a }} \\{{ b }} \\\{{c}}`), ['{{ b }}']);
  });
});
