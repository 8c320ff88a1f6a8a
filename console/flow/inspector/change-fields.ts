import type { SequentialStep } from '../draft/steps.ts';

type Kind = SequentialStep['processor_type'];

const PROMPTS: Record<Kind, string | undefined> = {
  llm: '{{previous_output}}',
  code: 'return input;\n',
  passthrough: undefined,
};
/** The config fields that each kind of block keeps; the others are dropped with the kind. */
const CONFIG: Record<Kind, readonly string[] | 'all'> = { llm: 'all', code: ['timeout_ms'], passthrough: [] };

/** Changes the kind of a block. Fields without effect are dropped, and the prompt starts anew. */
export function changeKind(step: SequentialStep, kind: Kind): SequentialStep {
  const { model, prompt: _old, processor_config, ...kept } = step;
  const prompt = PROMPTS[kind];
  const allowed = CONFIG[kind];
  const config = Object.entries(processor_config ?? {}).filter(
    ([field]) => allowed === 'all' || allowed.includes(field),
  );
  return {
    ...kept,
    processor_type: kind,
    ...(kind === 'llm' && model !== undefined && { model }),
    ...(prompt !== undefined && { prompt }),
    ...(config.length > 0 && { processor_config: Object.fromEntries(config) }),
  };
}

/** Sets a field of an object, or removes it when the value is undefined. The other fields keep their order. */
export function withField<T extends object>(object: T, field: string, value: unknown): T {
  if (value !== undefined) return { ...object, [field]: value };
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== field)) as T;
}

/** Whether a path is a field or lies inside it. */
export function isWithin(path: string, field: string): boolean {
  return path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`);
}
