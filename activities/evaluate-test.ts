// Compares the answer of a test case's run with what the case expects. A run that pauses for tools goes on with the results of
// the case.
import { ApplicationFailure } from '@temporalio/activity';
import { findOutcome } from '../db/runs/runs.ts';
import { measureOutcome, readResult } from '../db/stored-values/load-references.ts';
import { acceptJudge, getTest, recordVerdict } from '../db/test-runs/test-runs.ts';
import type { Json } from '../flow/definition.ts';
import { ServiceError, sanitizeMessage } from '../flow/errors.ts';
import { findDifference } from '../flow/json.ts';
import { toPlan } from '../flow/plan.ts';
import { toText } from '../flow/template.ts';
import {
  containsText,
  type Expectation,
  type Judgement,
  type JudgeRun,
  judgeFlow,
  type ToolAnswers,
  type UsedResults,
  type Verdict,
} from '../flow/test-case.ts';
import type { PausePoint } from '../flow/tool-calls.ts';
import { describeMismatch, type OrganizationValidator } from '../platform/json-schema/validator.ts';
import { acquireBytes } from '../platform/limits/gates.ts';
import type { ActivityDeps } from './activity-deps.ts';
import { answerToolCalls } from './answer-tool-calls.ts';
import type { Attempt } from './attempts/run-attempt.ts';

const EXCERPT_MAX_LENGTH = 300;

type Deps = Pick<ActivityDeps, 'db' | 'definitions' | 'validator' | 'gates'>;
type Answer = { json: Json } | { error: string } | { pause: PausePoint };
/** The last call of a case's run, and the results of its tools that earlier calls were given. */
export type LastCall = { callId: string; used: UsedResults };

/**
 * Records the verdict on a test case whose run has ended. Otherwise returns what runs next: the judge's run, when a model is to
 * judge the answer, or the call that answers the model's tool calls. Throws while the call has not ended.
 */
export async function evaluateTest(
  deps: Deps,
  executionId: string,
  attempt: Attempt,
  { callId, used }: LastCall = { callId: executionId, used: {} },
): Promise<JudgeRun | ToolAnswers | undefined> {
  const { db, validator } = deps;
  const test = await getTest(db, executionId);
  const { expectation, input, organizationId } = test;
  return withAnswer(deps, organizationId, callId, attempt, async (answer) => {
    if ('pause' in answer) {
      const definition = await deps.definitions.get(test.flowVersionId);
      const next = await answerToolCalls(db, definition, input.tool_results ?? [], {
        ...{ executionId, callId, used },
        pause: answer.pause,
      });
      if (!('status' in next)) return next;
      await recordVerdict(db, executionId, next);
      return undefined;
    }
    if ('error' in answer) {
      await recordVerdict(db, executionId, { status: 'error', why: answer.error });
      return undefined;
    }
    if (expectation.type !== 'judge') {
      const verdict = await compare(validator.of(organizationId), expectation, answer.json);
      await recordVerdict(db, executionId, verdict);
      return undefined;
    }
    const flow = judgeFlow(expectation.model);
    const judgeId = await acceptJudge(db, executionId, flow, {
      message: toText(answer.json),
      parameters: { question: input.message, criteria: expectation.criteria, mark: executionId },
    });
    return { executionId: judgeId, steps: toPlan(flow.steps) };
  });
}

/** Records the verdict of the run that judged a test case. Throws while that run has not ended. */
export async function readJudgement(deps: Deps, executionId: string, attempt: Attempt): Promise<void> {
  const { db } = deps;
  const { judgeId, organizationId } = await getTest(db, executionId);
  if (!judgeId) throw new Error(`No run judges the run ${executionId}.`);
  await withAnswer(deps, organizationId, judgeId, attempt, async (answer) => {
    if ('pause' in answer) throw new Error('A judge has no tools.');
    if ('error' in answer)
      return recordVerdict(db, executionId, {
        status: 'error',
        why: sanitizeMessage(`The answer could not be judged: ${answer.error}`),
      });
    const { passed, reason } = answer.json as Judgement;
    return recordVerdict(db, executionId, {
      status: passed ? 'passed' : 'failed',
      why: sanitizeMessage(reason),
    });
  });
}

/** Does `work` with the answer of a call. Throws PermitRejected where a large answer gets no permit. */
async function withAnswer<T>(
  { db, gates }: Deps,
  organizationId: string,
  callId: string,
  attempt: Attempt,
  work: (answer: Answer) => Promise<T>,
): Promise<T> {
  const outcome = await findOutcome(db, callId);
  // Expected, since the workflows of runs and of tests are independent: it is not logged as a fault.
  if (!outcome)
    throw ApplicationFailure.create({
      type: 'RUN_NOT_ENDED',
      message: `The run ${callId} has not ended.`,
    });
  if (outcome.status === 'failed') return work({ error: outcome.error.message });
  const isPaused = outcome.status === 'tool_calls_required';
  const result = isPaused ? null : outcome.result;
  const bytes = await measureOutcome(db, callId, { result, pauses: isPaused });
  using _permit = await acquireBytes(gates.inputs, organizationId, bytes, attempt);
  return await work(
    isPaused ? { pause: outcome.pause } : { json: await readResult(db, callId, outcome.result) },
  );
}

async function compare(
  validator: OrganizationValidator,
  expectation: Exclude<Expectation, { type: 'judge' }>,
  answer: Json,
): Promise<Verdict> {
  const problem = await findProblem(validator, expectation, answer).catch((error: unknown) => {
    if (!(error instanceof ServiceError)) throw error;
    return error;
  });
  if (problem === undefined) return { status: 'passed', why: null };
  if (problem instanceof ServiceError)
    return { status: 'error', why: sanitizeMessage(`The answer could not be judged: ${problem.message}`) };
  return { status: 'failed', why: sanitizeMessage(problem) };
}

async function findProblem(
  validator: OrganizationValidator,
  expectation: Exclude<Expectation, { type: 'judge' }>,
  answer: Json,
): Promise<string | undefined> {
  switch (expectation.type) {
    case 'equals': {
      const difference = findDifference(expectation.value, answer);
      if (!difference) return undefined;
      const { path, expected, actual } = difference;
      const place = path === '' ? 'The answer' : `At ${path} the answer`;
      return `${place} is ${excerpt(actual)}; expected ${excerpt(expected)}.`;
    }
    case 'json_schema': {
      const problems = await validator.validate(expectation.schema, answer);
      if (problems.length === 0) return undefined;
      const list = problems.map(describeMismatch);
      return `The answer does not match the JSON Schema: ${list.join('; ')}.`;
    }
    case 'contains':
      if (containsText(toText(answer), expectation.text)) return undefined;
      return `The answer does not contain ${excerpt(expectation.text)}: it is ${excerpt(answer)}.`;
  }
}

/** Writes the beginning of a value as JSON, and nothing of the rest, which may be long. */
export function excerpt(value: Json | undefined): string {
  if (value === undefined) return 'absent';
  const text = write(value, EXCERPT_MAX_LENGTH);
  return text.length > EXCERPT_MAX_LENGTH ? `${text.slice(0, EXCERPT_MAX_LENGTH)}…` : text;
}

/** Writes a value whose JSON has at most `max` characters; of a longer one, more than `max`, of which the first `max` are right. */
function write(value: Json, max: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, max));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  let text = isList ? '[' : '{';
  for (const key of isList ? value.keys() : Object.keys(value)) {
    if (text.length > max) break;
    if (text.length > 1) text += ',';
    if (typeof key === 'string') text += `${write(key, max)}:`;
    text += write((value as { [key: string | number]: Json })[key] as Json, max);
  }
  return text + (isList ? ']' : '}');
}
