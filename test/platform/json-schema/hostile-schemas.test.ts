// Schemas and values made to stop the service are refused or stopped.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Json, JsonSchema } from '../../../flow/definition.ts';
import { ThreadStarved } from '../../../platform/json-schema/thread-pool.ts';
import {
  createValidator,
  type OrganizationValidator,
  type Validator,
} from '../../../platform/json-schema/validator.ts';
import { PermitRejected } from '../../../platform/limits/fair-queue.ts';
import { attacks } from '../../full-size.ts';
import { fanIn, fanOut, nested } from './multiplying-schemas.ts';

const SLOW: JsonSchema = { uniqueItems: true };
const OBJECTS = Array.from({ length: 30_000 }, (_, n) => ({ n, a: { b: [n] } }));

describe('hostile JSON Schemas', () => {
  let all: Validator;
  let validator: OrganizationValidator;
  before(() => {
    all = createValidator();
    validator = all.of('organization');
  });
  after(() => all.close());
  afterEach('the validator still works', async () => {
    assert.deepEqual(await validator.validate({ type: 'number' }, 1), []);
  });

  const refused: [name: string, schema: unknown, message: RegExp, path?: string][] = [
    ['null', null, /is an object, true or false/],
    ['an array', [], /is an object, true or false/],
    ['a string', 'string', /is an object, true or false/],
    [
      'an unknown type',
      { properties: { a: { type: 'strin' } } },
      /at \/properties\/a\/type: "strin" is no type: the types are string, number/,
      '/properties/a/type',
    ],
    ['a keyword of the wrong type', { minLength: '1' }, /at \/minLength: must be integer/, '/minLength'],
    ['a negative length', { maxLength: -1 }, /must be >= 0/, '/maxLength'],
    [
      '$ref to http',
      { items: { $ref: 'http://127.0.0.1/schema.json' } },
      /stay inside the schema/,
      '/items/$ref',
    ],
    ['$ref to a file', { $ref: 'file:///etc/passwd' }, /stay inside the schema/, '/$ref'],
    [
      '$ref to the meta-schema',
      { $ref: 'https://json-schema.org/draft/2020-12/schema' },
      /stay inside the schema/,
      '/$ref',
    ],
    ['$ref that is not a string', { $ref: { a: 1 } }, /stay inside the schema/, '/$ref'],
    [
      '$ref to nothing',
      { properties: { a: { $ref: '#/$defs/none' } } },
      /nothing in the schema/,
      '/properties/a/$ref',
    ],
    ['$dynamicRef to http', { $dynamicRef: 'http://127.0.0.1/#a' }, /stay inside the schema/, '/$dynamicRef'],
    [
      '$data',
      { properties: { a: { minimum: { $data: '1/b' } } } },
      /\$data is not allowed/,
      '/properties/a/minimum/$data',
    ],
    ['$async', { $async: true, type: 'object' }, /\$async is not allowed/, '/$async'],
    [
      '$async below the root',
      { properties: { a: { $async: true } } },
      /\$async is not allowed/,
      '/properties/a/$async',
    ],
    [
      'an unknown dialect',
      { $schema: 'http://json-schema.org/draft-03/schema#' },
      /known dialects/,
      '/$schema',
    ],
    ['a dialect that is not a string', { $schema: 1 }, /known dialects/, '/$schema'],
    ['over 64 KB', { description: 'x'.repeat(64 * 1024) }, /over 65536 bytes/],
    ['over 64 KB in bytes only', { description: 'é'.repeat(33 * 1024) }, /over 65536 bytes/],
    ['deep allOf', nested(40), /nested more than 32/],
    [
      'nested beyond what the stack takes',
      JSON.parse('{"not":'.repeat(50_000) + 'true' + '}'.repeat(50_000)),
      /nested more than 32/,
    ],
    ['2^n steps through references', fanOut(40), /more than 100000 steps/],
    ['2^n steps through references into a value', fanIn(40), /more than 100000 steps/],
    ['a huge enum', { enum: Array.from({ length: 5_000 }, (_, n) => n) }, /more than 2000 values/],
    [
      'look-ahead',
      { properties: { a: { pattern: '^a(?=.*a).*$' } } },
      /pattern is not supported/,
      '/properties/a/pattern',
    ],
    ['a back-reference', { pattern: '(a)\\1' }, /pattern is not supported.*back-references/, '/pattern'],
    ['a pattern with a large count', { pattern: 'a{1,5000}' }, /not supported: .*invalid repeat count/],
    ['a pattern that is not one', { patternProperties: { '(': true } }, /pattern/],
    [
      'a pattern that grows when compiled',
      { pattern: '((((a{1,99}){1,99}){1,99}){1,99}){1,99}' },
      /pattern is not supported|takes/,
    ],
  ];
  for (const [name, schema, message, path] of attacks(refused)) {
    it(`refuses ${name}`, async () => {
      const check = validator.validate(schema as JsonSchema, { a: 'x' });
      await assert.rejects(check, (error: { code: string; message: string; extra: { path: string } }) => {
        assert.equal(error.code, 'SCHEMA_INVALID', String(error));
        assert.match(error.message, message);
        if (path !== undefined) assert.equal(error.extra.path, path);
        return true;
      });
    });
  }

  const stopped: [name: string, schema: JsonSchema, value: Json][] = [
    ['uniqueItems on 30,000 objects', SLOW, OBJECTS],
    [
      'contains within contains',
      { items: { contains: { contains: { const: 1 } } }, allOf: [{ uniqueItems: true }] },
      OBJECTS,
    ],
  ];
  for (const [name, schema, value] of attacks(stopped)) {
    it(`stops ${name}`, async () => {
      await validator.requireValidSchema(schema);
      await assert.rejects(validator.validate(schema, value), {
        code: 'SCHEMA_INVALID',
        message: /longer than 200 ms/,
      });
    });
  }

  it('a schema is not blamed for what a busy machine gives to others', async () => {
    const listOf = (length: number) => Array.from({ length }, (_, n) => ({ n, a: { b: [n] } }));
    const isUnique = async (length: number) => {
      const began = performance.now();
      assert.deepEqual(await validator.validate({ uniqueItems: true }, listOf(length)), []);
      return performance.now() - began;
    };
    // As long a list as this machine needs a small part of the time limit for.
    let length = 50;
    while ((await isUnique(length)) < 40) length = Math.ceil(length * 1.4);
    const busy = Array.from(
      { length: 8 * availableParallelism() },
      () => new Worker('for (;;);', { eval: true }),
    );
    try {
      await Promise.all(busy.map((worker) => once(worker, 'online')));
      await isUnique(length).catch((error: unknown) => {
        // A machine with other work too may give none for 5 s, which is not the schema's fault either.
        assert.ok(error instanceof ThreadStarved, String(error));
      });
    } finally {
      await Promise.all(busy.map((worker) => worker.terminate()));
    }
  });

  it('remembers what it stopped, for values as large: it is not tried again', async () => {
    const schema = { uniqueItems: true, $comment: 'remembered' };
    await assert.rejects(validator.validate(schema, OBJECTS), { message: /longer than 200 ms/ });
    // It is refused before any of these has a thread.
    const busy = Array.from({ length: 4 }, () => validator.validate({ type: 'string' }, 'x'));
    let checked = 0;
    for (const check of busy) void check.then(() => (checked += 1));
    await assert.rejects(validator.validate(schema, OBJECTS), { message: /longer than 200 ms/ });
    assert.equal(checked, 0, 'it was tried again');
    await Promise.all(busy);
    assert.deepEqual(await validator.validate(schema, [1, 2]), []);
    await assert.rejects(all.of('another').validate(schema, OBJECTS.slice(1)), { code: 'SCHEMA_INVALID' });
  });

  it('slow checks of one organization, however many, leave threads to another', async () => {
    const slow = Array.from({ length: 20 }, (_, n) => ({ uniqueItems: true, $comment: `slow ${n}` }));
    let stopped = 0;
    const hostile = slow.map((schema) =>
      assert.rejects(validator.validate(schema, OBJECTS)).finally(() => (stopped += 1)),
    );
    await assert.rejects(validator.validate({ type: 'string' }, 'x', 0), PermitRejected);
    assert.deepEqual(await all.of('another').validate({ type: 'string' }, 'x'), []);
    assert.deepEqual(await all.of('another').validate({ type: 'string' }, Buffer.from('"x"'), 0), []);
    assert(stopped < slow.length / 2, `${stopped} were stopped before`);
    await Promise.all(hostile);
  });

  it('a call that waits behind one that is stopped is answered', async () => {
    const stuck = assert.rejects(validator.validate(SLOW, OBJECTS), { code: 'SCHEMA_INVALID' });
    assert.deepEqual(await validator.validate({ type: 'string' }, 'x'), []);
    await stuck;
  });

  const harmless: [name: string, schema: JsonSchema, value: Json, valid: boolean][] = [
    ['a pattern with exponential backtracking', { pattern: '^(a+)+$' }, `${'a'.repeat(50_000)}b`, false],
    [
      'the same as a property name',
      { patternProperties: { '^(a|a)*$': false } },
      { [`${'a'.repeat(5_000)}b`]: 1 },
      true,
    ],
    ['an e-mail address made to backtrack', { format: 'email' }, `${'a.'.repeat(50_000)}@`, false],
    ['a host name made to backtrack', { format: 'hostname' }, 'a-'.repeat(50_000), false],
    ['a URI made to backtrack', { format: 'uri' }, `a:${'/'.repeat(100_000)} `, false],
    [
      'code in a property name',
      { properties: { '"];process.exit(1);//': { type: 'string' } } },
      { '"];process.exit(1);//': 1 },
      false,
    ],
    ['code in a pattern', { pattern: '`${process.exit(1)}`' }, 'x', false],
    ['code in a format', { format: '"+process.exit(1)+"' }, 'x', true],
    ['code in $id and $comment', { $id: 'a"+process.exit(1)+"', $comment: '*/process.exit(1)/*' }, 'x', true],
  ];
  for (const [name, schema, value, valid] of harmless) {
    it(`is not impressed by ${name}`, async () => {
      assert.equal((await validator.validate(schema, value)).length === 0, valid);
    });
  }

  it('a value nested beyond what can be passed on is refused', async () => {
    const deep: Json = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));
    await assert.rejects(validator.validate({ items: { $ref: '#' } }, deep), { code: 'SCHEMA_INVALID' });
  });

  it('close rejects what runs and what comes later', async () => {
    const other = createValidator();
    const running = assert.rejects(other.of('organization').validate(SLOW, OBJECTS), /closed/);
    await other.close();
    await running;
    await assert.rejects(other.of('organization').requireValidSchema(true), /closed/);
  });

  it('idle threads do not keep the process alive', async () => {
    const program = `
      import { createValidator } from './platform/json-schema/validator.ts';
      console.log(await createValidator().of('organization').validate({ type: 'string' }, 1));`;
    const root = new URL('../../../', import.meta.url);
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], { cwd: root });
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
    });
    assert.deepEqual(await once(child, 'close'), [0, null]);
    assert.match(printed, /must be string/);
  });
});
