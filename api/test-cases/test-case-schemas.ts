// Request and response schemas of test cases over HTTP.
import { z } from 'zod';
import { pageOf } from '../http/page.ts';
import { testStatus } from './describe-test-run.ts';
import { newTestCase } from './test-case.ts';

const time = z.iso.datetime();

export const testCaseRequest = newTestCase.omit({ flow_id: true }).meta({ id: 'SaveTestCase' });

const stored = z.object({ test_case_id: z.guid(), name: z.string(), created_at: time, updated_at: time });
const listed = stored
  .extend({
    last_result: z
      .object({
        test_run_id: z.guid(),
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
  })
  .meta({ id: 'RunTests' });
