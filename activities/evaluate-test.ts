// Whether the answer of a test case's run is as expected.

import { toOutcome } from '../db/runs.ts';
import { getTest, recordVerdict } from '../db/test-runs.ts';
import type { Json } from '../flow/definition.ts';
import { ServiceError, soundMessage } from '../flow/errors.ts';
import { findDifference } from '../flow/find-difference.ts';
import { type Expectation, JUDGE_STEP_ID, judgeBlock, type Verdict } from '../flow/test-case.ts';
import type { Value } from '../flow/value.ts';
import type { Attempt } from './attempted.ts';
import { ModelUnavailable } from './call-model.ts';
import type { ActivityDeps } from './index.ts';
import type { BlockRunner, Processor } from './run-block.ts';

const EXCERPT_MAX_LENGTH = 300;

export type TestDeps = Pick<ActivityDeps, 'db' | 'validator'> & { blocks: BlockRunner };

/**
 * Judges the run of a case and records the verdict, once. Throws what may be mended by another attempt, such as that the
 * run has not ended. `askModel` is what an llm block does.
 */
export async function evaluateTest(
  deps: TestDeps,
  executionId: string,
  attempt: Attempt,
  askModel: Processor,
): Promise<void> {
  const { expectation, status, ...run } = await getTest(deps.db, executionId);
  if (status !== 'pending') return;
  if (run.run_status === null)
    return recordVerdict(deps.db, executionId, { status: 'error', why: 'Its run did not begin.' });
  const outcome = toOutcome({ ...run, status: run.run_status, pause: null });
  if (!outcome) throw new Error(`The run ${executionId} has not ended.`);
  if (outcome.status !== 'completed') {
    const why =
      outcome.status === 'failed' ? outcome.error.message : 'The run waits for the results of tools.';
    return recordVerdict(deps.db, executionId, { status: 'error', why });
  }
  const verdict = await judge(outcome.result).catch((error: unknown): Verdict => {
    const final = error instanceof ServiceError || (error instanceof ModelUnavailable && attempt.last);
    if (!final) throw error;
    return { status: 'error', why: `The answer could not be judged: ${error.message}` };
  });
  await recordVerdict(deps.db, executionId, verdict);

  async function judge(result: Value): Promise<Verdict> {
    if (expectation.type !== 'judge')
      return check(deps, expectation, await deps.blocks.resolve(executionId, result));
    const call = { executionId, stepId: JUDGE_STEP_ID, blockKey: JUDGE_STEP_ID, input: result, ends: false };
    // Without tools it does not pause.
    const answer = (await deps.blocks.run(call, attempt, askModel, judgeBlock(expectation))) as Value;
    const { passed, reason } = (await deps.blocks.resolve(executionId, answer)) as JudgeAnswer;
    return toVerdict(passed, reason);
  }
}

/** As the judge's outputSchema has it. */
type JudgeAnswer = { passed: boolean; reason: string };

async function check(
  { validator }: TestDeps,
  expectation: Exclude<Expectation, { type: 'judge' }>,
  answer: Json,
): Promise<Verdict> {
  switch (expectation.type) {
    case 'equals': {
      const difference = findDifference(expectation.value, answer);
      if (!difference) return toVerdict(true);
      const { path, expected, actual } = difference;
      const place = path === '' ? 'The answer' : `At ${path} the answer`;
      return toVerdict(false, `${place} is ${excerpt(actual)}; expected was ${excerpt(expected)}.`);
    }
    case 'json_schema': {
      const problems = await validator.validate(expectation.schema, answer);
      const list = problems.map(({ path, message }) => `${path || 'the value'} ${message}`);
      if (list.length === 0) return toVerdict(true);
      return toVerdict(false, `The answer does not match the JSON Schema: ${list.join('; ')}.`);
    }
    case 'contains': {
      const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
      if (text.includes(expectation.text)) return toVerdict(true);
      return toVerdict(
        false,
        `The answer does not contain ${excerpt(expectation.text)}; it is ${excerpt(answer)}.`,
      );
    }
  }
}

function toVerdict(passed: boolean, why?: string): Verdict {
  return { status: passed ? 'passed' : 'failed', why: why === undefined ? null : soundMessage(why) };
}

function excerpt(value: Json | undefined): string {
  if (value === undefined) return 'absent';
  const text = JSON.stringify(value);
  return text.length > EXCERPT_MAX_LENGTH ? `${text.slice(0, EXCERPT_MAX_LENGTH)}…` : text;
}
