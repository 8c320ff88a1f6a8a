import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Json, Step } from '../../../flow/definition.ts';
import { code, passthrough } from '../../blocks.ts';
import { propertyRuns } from '../../full-size.ts';
import type { Tenant, Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { createStepClient, only, type StepClient } from './step-client.ts';

const RUNS = 15;

type Shape = 'pass' | 'code' | { branches: Shape[][] } | { body: Shape[]; until: boolean };
const trees: fc.Arbitrary<Shape[]> = fc.letrec<{ steps: Shape[]; step: Shape }>((tie) => ({
  steps: fc.array(tie('step'), { minLength: 1, maxLength: 4 }),
  step: fc.oneof(
    { maxDepth: 2 },
    fc.constant('pass' as const),
    fc.constant('code' as const),
    fc.record({ branches: fc.array(tie('steps'), { minLength: 1, maxLength: 2 }) }),
    fc.record({ body: tie('steps'), until: fc.boolean() }),
  ),
})).steps;

/** A loop over items comes after a block that answers an array; one `until` a condition runs twice. */
function build(shapes: Shape[]): Step[] {
  let next = 0;
  const id = (prefix: string) => `${prefix}-${next++}`;
  const named = (prefix: string) => {
    const step_id = id(prefix);
    return { step_id, name: step_id };
  };
  const steps = (list: Shape[]): Step[] =>
    list.flatMap((shape): Step[] => {
      if (shape === 'pass') return [passthrough(id('pass'))];
      if (shape === 'code') {
        const stepId = id('code');
        return [code(stepId, `return { by: "${stepId}", input, message, parameters };`)];
      }
      if ('branches' in shape) {
        const branches = shape.branches.map((branch, index) => [`b${index}`, steps(branch)] as const);
        return [{ type: 'parallel', ...named('parallel'), branches: Object.fromEntries(branches) }];
      }
      const body = steps(shape.body);
      if (shape.until) {
        const until = { pointer: '', equals: null };
        return [{ type: 'loop', ...named('until'), max_iterations: 2, until, body }];
      }
      return [
        code(id('list'), 'return [JSON.stringify(input).length, "two"];'),
        { type: 'loop', ...named('each'), max_iterations: 2, body },
      ];
    });
  return steps(shapes);
}

/** Messages of every sort, empty and odd ones too: they decide a block's input. */
const messages = fc.oneof(fc.string({ maxLength: 20 }), fc.string({ unit: 'binary', maxLength: 8 }));
const parameters = fc
  .dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<Json>, {
    maxKeys: 2,
  })
  // Requests may not have these keys, nor integers that a number cannot keep.
  .filter((given) => !/"(?:__proto__|constructor)":/.test(JSON.stringify(given)) && isKept(given));

function isKept(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(isKept);
}

describe('step by step, runRemaining and /execute', () => {
  let weir: Weir;
  let tenant: Tenant;
  let client: StepClient;
  before(async () => {
    weir = await getSharedWeir();
    tenant = await weir.createTenant();
    client = await createStepClient(weir, tenant);
  });
  after(() => weir.stop());

  it('come to the same result, for any tree', async () => {
    await fc.assert(
      fc.asyncProperty(trees, messages, parameters, fc.nat(), async (shapes, message, given, cut) => {
        const steps = build(shapes);
        const flow = await weir.createFlow(tenant, steps);
        const body = { message: message.toWellFormed(), parameters: given };
        const executed = await weir.call('POST', `${flow}/execute`, { key: tenant.key, body });
        assert.equal(executed.body.status, 'completed', executed.body.errorMessage);
        const { result } = executed.body;

        const whole = await client.step(flow, { ...body, stepIndex: 0, runRemaining: true });
        assert.deepEqual(only(whole, 'run_completed').result, result);

        const walked = await client.walk(flow, { ...body, stepIndex: 0 });
        assert.deepEqual(only(walked, 'run_completed').result, result);

        const outputs = (events: typeof whole) =>
          events.flatMap(({ event, data }) =>
            event === 'block_completed' && data.key === undefined ? [[data.stepId, data.output]] : [],
          );
        assert.deepEqual(outputs(whole), outputs(walked));
        assert.deepEqual(
          outputs(whole).map(([stepId]) => stepId),
          steps.map(({ step_id }) => step_id),
        );

        const stepIndex = cut % steps.length;
        const accumulatedOutputs = Object.fromEntries(outputs(whole).slice(0, stepIndex));
        const rest = { ...body, stepIndex, accumulatedOutputs, runRemaining: true };
        assert.deepEqual(only(await client.step(flow, rest), 'run_completed').result, result);
      }),
      { numRuns: propertyRuns(RUNS) },
    );
  }).timeout(600_000);
});
