import assert from 'node:assert/strict';
import type { JsonSchema } from '../../../flow/definition.ts';
import { answer, type Behaviour, callTools, respond } from '../../fakes/model-server.ts';
import { fails, useAskModel } from './ask-model-harness.ts';

const closed = {
  type: 'object',
  properties: { url: { type: 'string' } },
  required: ['url'],
  additionalProperties: false,
};
const open: JsonSchema = { ...closed, additionalProperties: true };
const RESULT = { url: 'u' };
const TOOL = { type: 'function' as const, function: { name: 'look', parameters: { type: 'object' } } };

describe('a response format that a provider refuses', () => {
  const harness = useAskModel();
  const answered = answer(JSON.stringify(RESULT));
  const refuse = (message: string, status = 400): Behaviour => respond(status, { error: { message } });
  const NO_FORMAT =
    "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.";
  const NOT_THIS = "Invalid schema for response_format 'output': In context=(), 'x' is not permitted.";

  const run = async (outputSchema: JsonSchema, organizationId = 'organization') =>
    (await harness.call({ outputSchema }, undefined, { organizationId })).output;
  /** Tells of each request whether it has a format. */
  const formats = () => harness.server.calls.map(({ body }) => body.response_format !== undefined);

  it('is not sent for a reference with a description, which strict mode takes in another form', async () => {
    const outputSchema = {
      ...closed,
      properties: { hero: { $ref: '#/$defs/P', description: 'The main one' } },
      required: ['hero'],
      $defs: { P: closed },
    };
    harness.server.will(answer(JSON.stringify({ hero: RESULT })));
    assert.deepEqual(await run(outputSchema), { hero: RESULT });
    assert.partialDeepStrictEqual(harness.server.calls[0]?.body.response_format, {
      json_schema: { strict: true, schema: { properties: { hero: { anyOf: [{ $ref: '#/$defs/P' }] } } } },
    });
  });

  it('is replaced by instructions in the same attempt, and the cost is that of the answer', async () => {
    harness.server.will(refuse(NO_FORMAT), answered);
    const { output, costMicrocredits } = await harness.call({ outputSchema: closed });
    assert.deepEqual([output, costMicrocredits], [RESULT, 10 * 15 + 5 * 60]);
    assert.deepEqual(formats(), [true, false]);
    assert.match(
      JSON.stringify(harness.server.calls[1]?.body.messages),
      /^\[\{"role":"system".*JSON Schema.*\\"url\\"/,
    );
  });

  const unsupported = [
    NO_FORMAT,
    'This response_format type is unavailable now',
    'This model does not support response format `json_schema`. See supported models',
    'Invalid JSON payload received. Unknown name "response_format": Cannot find field.',
    'output_format: Extra inputs are not permitted',
    'output_config.format: Extra inputs are not permitted',
    "'claude-opus-4-1' does not support output format.",
    'output_config: Extra inputs are not permitted',
    'Structured outputs are not supported for this model.',
    'JSON mode is not enabled for models/gemma-3-27b-it',
    'Json mode response is not supported when enable_thinking is true',
    'response_format value as json_schema is enabled only for api versions 2024-08-01-preview and later',
  ];
  for (const message of unsupported)
    it(`is not asked of the model again, with any schema: ${message}`, async () => {
      harness.server.will(refuse(message), answered, answered, answered);
      await run(closed);
      await run(closed);
      await run(open);
      assert.deepEqual(formats(), [true, false, false, false]);
    });

  const ofSchema = [
    NOT_THIS,
    "Function calling with a response mime type: 'application/json' is unsupported",
    'output_config.format.schema: Schema is too complex for structured outputs, unsupported',
    'output_config.format.schema.properties.url: Extra inputs are not permitted',
    'json mode cannot be combined with tool/function calling',
    'response_format with tools is not supported',
    'Request contains an invalid argument.',
  ];
  for (const message of ofSchema)
    it(`is asked of the model again with another schema: ${message}`, async () => {
      harness.server.will(refuse(message), answered, answered, answered);
      await run(closed);
      await run(closed);
      await run(open);
      assert.deepEqual(formats(), [true, false, false, true]);
    });

  it('is replaced by instructions where a gateway finds no server that takes it', async () => {
    harness.server.will(
      refuse('No endpoints found that can handle the requested parameters.', 404),
      answered,
    );
    assert.deepEqual(await run(closed), RESULT);
  });

  it('is replaced by instructions in the one system message that the templates of many models take', async () => {
    harness.server.will(refuse(NO_FORMAT), answered, answered);
    const block = { outputSchema: closed, processor_config: { system: 'Be brief.' } };
    await harness.call(block);
    await harness.call(block);
    for (const { body } of harness.server.calls.slice(1)) {
      const systems = (body.messages as { role: string; content: string }[]).filter(
        ({ role }) => role === 'system',
      );
      assert.equal(systems.length, 1);
      assert.match(systems[0]?.content ?? '', /JSON Schema.*\n\nBe brief\.$/s);
    }
  });

  for (const message of [
    'JSON schema conversion failed:\nUnrecognized schema: {"not":{}}',
    'Failed to initialize samplers: failed to parse grammar',
  ])
    it(`may be refused with the status of a server error: ${message.slice(0, 40)}`, async () => {
      harness.server.will(refuse(message, 500), answered);
      assert.deepEqual(await run(closed), RESULT);
    });

  it('is not to blame where a request without it is refused for the same unknown reason', async () => {
    const refusal = refuse('Request contains an invalid argument.');
    harness.server.will(refusal, refusal, answered);
    await assert.rejects(run(closed), fails('MODEL_REQUEST_INVALID', /invalid argument/));
    await run(closed);
    assert.deepEqual(formats(), [true, false, true]);
  });

  it('is asked again for another organization', async () => {
    harness.server.will(refuse(NO_FORMAT), answered, answered);
    await run(closed);
    await run(closed, 'another');
    assert.deepEqual(formats(), [true, false, true]);
  });

  it('may be refused as late as for the repair', async () => {
    harness.server.will(answer('{}'), refuse(NO_FORMAT), answered);
    assert.deepEqual(await run(closed), RESULT);
    assert.deepEqual(formats(), [true, true, false]);
  });

  it('fails the block when the request with instructions is refused, too', async () => {
    harness.server.will(refuse(NOT_THIS), refuse('No system message'));
    await assert.rejects(run(closed), fails('MODEL_REQUEST_INVALID', /No system message/));
    assert.deepEqual(formats(), [true, false]);
  });

  it('is not to blame for the parameters of a tool', async () => {
    harness.server.will(
      refuse("Invalid schema for function 'look': schema must have a 'type' key"),
      callTools([]),
    );
    const block = { outputSchema: closed };
    const refused = harness.call(block, undefined, { tools: [TOOL] });
    await assert.rejects(refused, fails('MODEL_SCHEMA_REFUSED', /for function 'look'/));
    assert.deepEqual(formats(), [true]);
  });
});
