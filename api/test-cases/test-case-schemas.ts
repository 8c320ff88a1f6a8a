// Request and response schemas of test cases over HTTP.
import { z } from 'zod';
import { pageOf } from '../http/page.ts';
import { testedNumber, testStatus } from './describe-test-run.ts';
import { testedVersion } from './run-tests.ts';
import { newTestCase } from './test-case-fields.ts';

const time = z.iso.datetime();
/** The characters of a value in a list. */
export const LISTED_MAX_CHARS = 500;

const stored = z.object({ test_case_id: z.guid(), name: z.string(), created_at: time, updated_at: time });
const listed = stored
  .extend({
    message: z.string().meta({ description: `The first ${LISTED_MAX_CHARS} characters.` }),
    expected: z.string().meta({
      description: `The expectation as JSON, the first ${LISTED_MAX_CHARS} characters.`,
    }),
    has_tools: z.boolean(),
    last_result: z
      .object({
        test_run_id: z.guid(),
        version: testedNumber,
        flow_run_id: z.guid(),
        status: testStatus,
        why: z.string().nullable().meta({ description: 'Why the case has not passed.' }),
        tested_at: time.meta({ description: 'When the test run began.' }),
        ms: z.int().min(0).nullable(),
        cost: z.number().meta({ description: 'Credits for the run and its judge.' }),
      })
      .nullable()
      .meta({
        description:
          'The result of the last test run of the case. The case may have changed since. null if the case never ran, or if retention has deleted the result.',
      }),
  })
  .meta({ id: 'ListedTestCase' });
export const testCaseRecord = stored
  .extend({
    message: z.string(),
    parameters: z.record(z.string(), z.unknown()),
    tools: newTestCase.shape.tools,
    tool_results: newTestCase.shape.tool_results,
    expectation: z.unknown().meta({
      description: 'The expectation as sent. A judge sent without a model has the model of the service.',
    }),
  })
  .meta({ id: 'TestCase' });
export const testCaseList = pageOf('TestCaseList', 'test_cases', listed);

export const testRunRequest = z
  .strictObject({
    test_case_id: z
      .guid()
      .optional()
      .meta({ description: 'The case to run. Without it, all cases of the flow run.' }),
    version: testedVersion,
  })
  .meta({ id: 'RunTests' });
