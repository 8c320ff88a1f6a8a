// How each generation of Claude is told how much to think (platform.claude.com/docs: "Effort", "Thinking"; November 2026).
import type Anthropic from '@anthropic-ai/sdk';

type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh';
type Fields = Pick<Anthropic.MessageCreateParamsNonStreaming, 'thinking' | 'output_config'>;

/** `hasThought`: the last turn of the model begins with its thinking. `isForced`: the model has to call a tool. */
type Situation = { maxTokens: number; hasThought: boolean; isForced: boolean };

/** Tokens of thinking for models that take a budget. */
const BUDGETS = { minimal: 1_024, low: 4_096, medium: 8_192, high: 16_384, xhigh: 32_768 };
const BUDGET_MIN = 1_024;
/** The share of `max_tokens` that thinking may use. */
const THINKING_SHARE = 0.75;

/** The model's family, and its version as a number: 4.5 for `claude-opus-4-5-20251101`. A name without version is a new model. */
function readClaudeName(model: string): { family: string; version: number } {
  const [, family = ''] = /(opus|sonnet|haiku|fable|mythos)/.exec(model) ?? [];
  const [, major, minor = '0'] = /claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(model) ?? [];
  return { family, version: major === undefined ? Number.POSITIVE_INFINITY : Number(`${major}.${minor}`) };
}

/**
 * Whether two names may be of one model: an answer has a date where the request had none, and the real name where the request had
 * one of a gateway.
 */
export function isSameClaude(a: string, b: string): boolean {
  const [one, other] = [readClaudeName(a), readClaudeName(b)];
  const isSame = <T>(x: T, y: T, unknown: T) => x === y || x === unknown || y === unknown;
  return isSame(one.family, other.family, '') && isSame(one.version, other.version, Number.POSITIVE_INFINITY);
}

/**
 * Returns the fields for a `reasoning_effort`. No model thinks and has to call a tool at the same time: where thinking can be
 * turned off, the tool comes first.
 */
export function toThinking(model: string, effort: Effort | null | undefined, at: Situation): Fields {
  const { family, version } = readClaudeName(model);
  const isAlwaysOn = version >= 5.5 || family === 'fable' || family === 'mythos';
  const isOnByDefault = version >= 5;
  const off = isOnByDefault ? { thinking: { type: 'disabled' as const } } : {};
  if (effort == null) return at.isForced && !isAlwaysOn ? off : {};
  if (effort === 'none') return off;
  if (version < 4.6) return at.isForced ? {} : withBudget(effort, at);
  const level = effort === 'minimal' ? 'low' : effort;
  if (at.isForced && !isAlwaysOn)
    return { ...off, output_config: { effort: level === 'xhigh' ? 'high' : level } };
  const knowsXhigh = version >= 4.7;
  return {
    thinking: { type: 'adaptive' },
    output_config: { effort: level === 'xhigh' && !knowsXhigh ? 'max' : level },
  };
}

/** A turn that began without thinking cannot go on with it. Its tokens are part of `max_tokens`; a quarter is for the answer. */
function withBudget(effort: Exclude<Effort, 'none'>, { maxTokens, hasThought }: Situation): Fields {
  if (maxTokens <= BUDGET_MIN || !hasThought) return {};
  const budget_tokens = Math.max(
    BUDGET_MIN,
    Math.min(BUDGETS[effort], Math.floor(THINKING_SHARE * maxTokens)),
  );
  return { thinking: { type: 'enabled', budget_tokens } };
}
