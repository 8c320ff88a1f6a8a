// Request and response schemas of test cases over HTTP.
import { z } from 'zod';
import { pageOf } from '../http/page-schema.ts';
import { newTestCase } from './test-case.ts';

const time = z.iso.datetime();

export const testCaseRequest = newTestCase.omit({ flow_id: true }).meta({ id: 'SaveTestCase' });

const listed = z
  .object({ test_case_id: z.guid(), name: z.string(), created_at: time, updated_at: time })
  .meta({ id: 'ListedTestCase' });
export const testCaseRecord = listed
  .extend({
    message: z.string(),
    parameters: z.record(z.string(), z.unknown()),
    expectation: z.unknown().meta({ description: 'As it was sent; a judge has its model.' }),
  })
  .meta({ id: 'TestCase' });
export const testCaseList = pageOf('TestCaseList', 'test_cases', listed);

export const testRunRequest = z
  .strictObject({
    test_case_id: z.guid().optional().meta({ description: 'The case to run; all of the flow when absent.' }),
  })
  .meta({ id: 'RunTests' });
