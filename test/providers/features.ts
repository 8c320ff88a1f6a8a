// The features of each provider that presets.test.ts tests; npm run reference writes them into the documentation.

/** `—`: the provider has nothing of the kind. Any other value is how the feature works. */
type Features = {
  /** The API through which the provider is called. */
  api: string;
  /** The model that is tried. */
  model: string;
  text: 'yes';
  /** In `response_format`, or written into the prompt. */
  schema: 'yes' | 'in the prompt';
  tools: 'yes';
  images: 'yes' | '—';
  /** Readable reasoning is in the trace. */
  reasoning: 'readable' | 'counted';
  /** Cached input has its own price, or the provider does not report it. */
  caching: 'priced' | '—';
  /** An answer that streams although nobody asked for that is read. */
  streaming: 'read' | '—';
};

const COMPLETE = {
  api: 'openai-chat',
  text: 'yes',
  schema: 'yes',
  tools: 'yes',
  images: 'yes',
  reasoning: 'readable',
  caching: 'priced',
  streaming: 'read',
} as const;

/** By the prefix of a preset. */
export const FEATURES = {
  openai: { ...COMPLETE, model: 'gpt-test', reasoning: 'counted' },
  'openai (Responses)': { ...COMPLETE, api: 'openai-responses', model: 'gpt-5' },
  anthropic: { ...COMPLETE, api: 'anthropic', model: 'claude-opus-4-8' },
  azure: { ...COMPLETE, model: 'my-deployment', reasoning: 'counted' },
  google: { ...COMPLETE, model: 'gemini-test', reasoning: 'counted' },
  openrouter: { ...COMPLETE, model: 'acme/model', schema: 'in the prompt' },
  mistral: { ...COMPLETE, model: 'mistral-test' },
  groq: { ...COMPLETE, model: 'llama-test', schema: 'in the prompt' },
  deepseek: { ...COMPLETE, model: 'deepseek-test', schema: 'in the prompt', images: '—' },
  together: { ...COMPLETE, model: 'acme/model' },
  ollama: { ...COMPLETE, model: 'llava', images: '—', caching: '—' },
  vllm: { ...COMPLETE, model: 'acme/model' },
} as const satisfies { [preset: string]: Features };

export type PresetName = keyof typeof FEATURES;
