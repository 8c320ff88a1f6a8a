import assert from 'node:assert/strict';
import { EMPTY_EXPECTATION, parseExpectation } from '../../../../console/flow/tests/test-case.ts';
import {
  EMPTY_INPUT,
  imageError,
  parametersUsed,
  parseInput,
  parseOutput,
  type TryInput,
  toolNames,
  toTryInput,
  typeOfImage,
} from '../../../../console/flow/try/try-input.ts';

const parse = (input: Partial<TryInput>) => parseInput({ ...EMPTY_INPUT, ...input });
const EMPTY = { message: '', parameters: {}, tools: [], attachments: [], toolChoice: null, maxCredits: null };
const TOOL = { type: 'function', function: { name: 'look' } };

describe('the input of a run that is tried', () => {
  it('is only a message when nothing else is typed', () => {
    assert.deepEqual(parse({ message: 'm' }), { request: { message: 'm' }, errors: {} });
  });

  it('has parameters, images, a limit, and tools with their choice', () => {
    const { request, errors } = parse({
      ...{ message: 'm', parameters: '{"n": 1}', maxCredits: '0.5', toolChoice: 'look' },
      ...{ tools: JSON.stringify([TOOL]), images: [{ url: 'https://a.b/c.png', mime_type: 'image/png' }] },
    });
    assert.deepEqual(errors, {});
    assert.deepEqual(request, {
      ...{ message: 'm', parameters: { n: 1 }, maxCredits: 0.5, tools: [TOOL] },
      attachments: [{ kind: 'url', url: 'https://a.b/c.png', mime_type: 'image/png' }],
      toolChoice: { type: 'function', function: { name: 'look' } },
    });
  });

  it("can be another run's input", () => {
    const image = { kind: 'url', url: 'https://a.b/c.png', mime_type: 'image/png' } as const;
    const took = (started: object) =>
      parseInput(toTryInput({ ...EMPTY, ...started } as Parameters<typeof toTryInput>[0])).request;
    for (const request of [
      { message: 'm' },
      { message: '', parameters: { n: 1 }, maxCredits: 0.5, attachments: [image] },
      { message: 'm', maxCredits: 1e-7 },
      { message: 'm', tools: [TOOL] },
      { message: 'm', tools: [TOOL], toolChoice: 'required' },
      { message: 'm', tools: [TOOL], toolChoice: { type: 'function', function: { name: 'look' } } },
    ])
      assert.deepEqual(took(request), request);
  });

  it('has a sentence for each wrong field', () => {
    assert.match(parse({ parameters: '[1]' }).errors.parameters ?? '', /^Must be an object/);
    assert.match(parse({ parameters: '{' }).errors.parameters ?? '', /^Must be JSON: /);
    assert.match(parse({ parameters: '{"attachments": []}' }).errors.parameters ?? '', /reserved/);
    assert.match(parse({ tools: '{}' }).errors.tools ?? '', /^Must be a list/);
    for (const maxCredits of ['0', '-1', 'x', 'NaN', 'Infinity', '0x10', '1e3'])
      assert.match(parse({ maxCredits }).errors.maxCredits ?? '', /^Must be a number/, maxCredits);
  });

  it('rejects numbers that would lose digits or become null, and names them', () => {
    const changed = /^The digits of 9007199254740993 would be changed/;
    assert.match(parse({ parameters: '{"id": 9007199254740993}' }).errors.parameters ?? '', changed);
    assert.match(parse({ tools: '[9007199254740993]' }).errors.tools ?? '', changed);
    assert.match(parseOutput('9007199254740993').error ?? '', changed);
    const equals = { ...EMPTY_EXPECTATION, kind: 'equals' as const };
    assert.match(parseExpectation({ ...equals, value: '[9007199254740993]' }).error ?? '', changed);
    assert.match(
      parseExpectation({ ...equals, value: '-12345678901234567890' }).error ?? '',
      /-12345678901234567890/,
    );
    assert.equal(
      parse({ parameters: '{"n": -1e400}' }).errors.parameters,
      '-1e400 is too large a number: write it as text, in quotes.',
    );
    for (const kept of [
      '{"a\\"9007199254740993": "9007199254740993\\\\"}',
      '9007199254740992',
      '1e22',
      '0.12345678901234567',
    ])
      assert.ok(parseExpectation({ ...equals, value: kept }).expectation, kept);
  });

  it('takes images by https only, and guesses their type from the extension', () => {
    assert.equal(imageError('https://a.b/c.png'), undefined);
    for (const wrong of [
      'c.png',
      'http://a.b/c.png',
      'data:image/png;base64,AA',
      `https://a.b/${'c'.repeat(2048)}`,
    ])
      assert.ok(imageError(wrong), wrong);
    assert.deepEqual(['https://a.b/c.JPG?x=1', 'https://a.b/c.webp', 'https://a.b/c'].map(typeOfImage), [
      'image/jpeg',
      'image/webp',
      'image/png',
    ]);
  });

  it('has fields for the parameters in prompts and code', () => {
    const block = (step_id: string, processor_type: 'llm' | 'code', prompt: string) => ({
      ...{ type: 'sequential' as const, step_id, name: step_id, processor_type, prompt },
    });
    const steps = [
      block('a', 'llm', '{{parameters.user.name}} {{ parameters.tone }} {{message}} parameters.not'),
      {
        type: 'loop' as const,
        step_id: 'l',
        name: 'l',
        max_iterations: 2,
        body: [block('b', 'code', 'return parameters?.n + my.parameters.no;')],
      },
    ];
    assert.deepEqual(parametersUsed(steps), ['user', 'tone', 'n']);
  });

  it('names the tools of a valid text', () => {
    assert.deepEqual(toolNames(JSON.stringify([TOOL, 1, {}])), ['look']);
    assert.deepEqual(toolNames('['), []);
  });
});
