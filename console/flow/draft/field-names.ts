/** The words for the fields of a step, as its form has them. */
const NAMES: Record<string, string> = {
  processor_type: 'kind',
  processor_config: 'settings',
  system: 'system message',
  max_tokens: 'token limit',
  timeout_ms: 'timeout',
  max_retries: 'retries',
  reasoning_effort: 'reasoning effort',
  api: 'API',
  messages: 'example messages',
  prompt_cache: 'prompt cache',
  stop: 'stop texts',
  tools_enabled: 'tools',
  max_tool_iterations: 'rounds of tool calls',
  inputSchema: 'input schema',
  outputSchema: 'output schema',
  max_iterations: 'limit of repetitions',
  until: 'condition to stop',
};

/** The words for the kinds of blocks. */
export const KIND_NAMES = { llm: 'Model call', code: 'Code', passthrough: 'Pass through' } as const;

/** Returns the word for a field of a step or of its settings: `timeout_ms` is the timeout. */
export function fieldName(field: string): string {
  const [first = '', ...rest] = field.split('.');
  if (first === 'processor_config' && rest.length > 0) return fieldName(rest.join('.'));
  return NAMES[first] ?? field;
}
