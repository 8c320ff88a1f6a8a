// The tools for test cases, their runs, and traces (docs/test-cases.md).
import { z } from 'zod';
import { testRun } from '../test-cases/describe-test-run.ts';
import { readVersion, runAllTests, runTestCase } from '../test-cases/run-tests.ts';
import { createTestCase, deleteTestCase, readTestCase, savedTestCase } from '../test-cases/test-case.ts';
import { newTestCase } from '../test-cases/test-case-fields.ts';
import { defineTool, flowId, toVersionNumber } from './tool.ts';
import { runTrace, runTraceInput, stepTrace, stepTraceInput, traceRun, traceStep } from './trace-run.ts';

const testCaseId = z.guid().meta({ description: 'test_case_id from get_flow.' });
// runTestCase and runAllTests check the value.
const version = z
  .union([z.string(), z.number()])
  .default('draft')
  .meta({ description: 'draft, production or a number.' });
const RUNS = 'It runs at its usual cost. Answers within 45 s, with the results so far.';

const create = defineTool({
  name: 'create_test_case',
  title: 'Create a test case',
  description: 'Creates a test case: the input of the flow, and what it must answer.',
  scope: 'flows:write',
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  // The service checks the tools and results by their whole schema, which would make up a twentieth of the list of tools.
  input: newTestCase.extend({
    flow_id: flowId,
    tools: z.array(z.unknown()).optional(),
    tool_results: z
      .array(z.unknown())
      .optional()
      .meta({ description: '[{name, result}]: a call takes the next result of its tool.' }),
  }),
  output: savedTestCase,
  run: (call, input) => createTestCase(call.deps, call, readTestCase(input)),
});

const remove = defineTool({
  name: 'delete_test_case',
  title: 'Delete a test case',
  description: 'Deletes a test case; its runs stay.',
  scope: 'flows:write',
  hints: { readOnlyHint: false, destructiveHint: true },
  input: z.strictObject({ test_case_id: testCaseId }),
  output: z.strictObject({ test_case_id: z.string() }),
  async run(call, { test_case_id }) {
    await deleteTestCase(call.deps, call, test_case_id);
    return { test_case_id };
  },
});

const runOne = defineTool({
  name: 'run_test_case',
  title: 'Run a test case',
  description: `Runs one test case and judges the answer. ${RUNS}`,
  scope: 'flows:run',
  hints: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
  input: z.strictObject({ test_case_id: testCaseId, version }),
  output: testRun,
  run(call, { test_case_id, version }) {
    call.releaseRequest();
    return runTestCase(call.deps, call, test_case_id, {
      version: readVersion(toVersionNumber(version)),
      gone: call.goneOrStopping,
    });
  },
});

const runAll = defineTool({
  name: 'run_all_tests',
  title: 'Run all tests',
  description: `Runs every test case of a flow and sums up the results. ${RUNS}`,
  scope: 'flows:run',
  hints: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
  input: z.strictObject({ flow_id: flowId, version }),
  output: testRun,
  run(call, { flow_id, version }) {
    call.releaseRequest();
    return runAllTests(call.deps, call, flow_id, {
      version: readVersion(toVersionNumber(version)),
      gone: call.goneOrStopping,
    });
  },
});

const trace = defineTool({
  name: 'get_test_run_trace',
  title: 'Trace a run',
  description:
    'Shows the input of each block of a run, what it sent and its output, with tokens, cost and time. It can be any run, also one of a caller. With a test_run_id: shows how its cases stand.',
  scope: 'flows:read',
  hints: { readOnlyHint: true },
  input: runTraceInput,
  output: runTrace,
  run: ({ deps, access, gone }, input) => traceRun(deps, access, input, gone),
});

const traceOne = defineTool({
  name: 'get_step_trace',
  title: 'Trace a step of a run',
  description:
    'Shows each execution of one step of a run, with more of its values than get_test_run_trace shows.',
  scope: 'flows:read',
  hints: { readOnlyHint: true },
  input: stepTraceInput,
  output: stepTrace,
  run: ({ deps, access, gone }, input) => traceStep(deps, access, input, gone),
});

export const testTools = [create, remove, runOne, runAll, trace, traceOne];
