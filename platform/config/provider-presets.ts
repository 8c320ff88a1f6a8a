// What Weir knows of the providers that need only a key: their address, API and key header.

/** The APIs that Weir speaks: OpenAI's Chat Completions and Responses, and Anthropic's Messages. */
export const API_KINDS = ['openai-chat', 'openai-responses', 'anthropic'] as const;
export type ApiKind = (typeof API_KINDS)[number];

export type Preset = {
  /** `openai-chat` when absent. */
  api?: ApiKind;
  /** Absent: the address has to be configured. */
  baseUrl?: string;
  keyHeader?: string;
  refusedFields?: readonly string[];
  renamedFields?: { readonly [field: string]: string };
  /** The preset whose models these are, with their prices. */
  like?: string;
};

/** OpenAI's reasoning models refuse `max_tokens`; servers of others may not know `max_completion_tokens`. */
const NO_COMPLETION_TOKENS = { refusedFields: ['max_completion_tokens'] };
const NO_MAX_TOKENS = { refusedFields: ['max_tokens'] };

/** Anthropic's OpenAI layer ignores `reasoning_effort`. */
export const CLAUDE_CHAT_REFUSED_FIELDS = [...NO_COMPLETION_TOKENS.refusedFields, 'reasoning_effort'];

/** By prefix. Each has the variables `<PREFIX>_API_KEY`, `<PREFIX>_BASE_URL` and `<PREFIX>_API`. */
export const PRESETS = {
  openai: { baseUrl: 'https://api.openai.com/v1', ...NO_MAX_TOKENS },
  azure: { keyHeader: 'api-key', like: 'openai', ...NO_MAX_TOKENS },
  anthropic: { api: 'anthropic', baseUrl: 'https://api.anthropic.com/v1', ...NO_COMPLETION_TOKENS },
  google: { baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai', ...NO_COMPLETION_TOKENS },
  openrouter: { baseUrl: 'https://openrouter.ai/api/v1', ...NO_COMPLETION_TOKENS },
  mistral: {
    baseUrl: 'https://api.mistral.ai/v1',
    refusedFields: ['max_completion_tokens', 'reasoning_content', 'reasoning'],
    renamedFields: { seed: 'random_seed' },
  },
  groq: { baseUrl: 'https://api.groq.com/openai/v1', refusedFields: ['max_tokens', 'reasoning_content'] },
  deepseek: { baseUrl: 'https://api.deepseek.com/v1', ...NO_COMPLETION_TOKENS },
  together: { baseUrl: 'https://api.together.xyz/v1', ...NO_COMPLETION_TOKENS },
  ollama: { baseUrl: 'http://127.0.0.1:11434/v1', ...NO_COMPLETION_TOKENS },
  vllm: { ...NO_COMPLETION_TOKENS },
  demo: { ...NO_COMPLETION_TOKENS },
} as const satisfies Record<string, Preset>;

/** Whether a preset has an address of its own. */
export function hasAddress(prefix: string): boolean {
  return Object.hasOwn(PRESETS, prefix) && 'baseUrl' in PRESETS[prefix as keyof typeof PRESETS];
}
