// How a model's answer ended, by the finish reason that its provider gives.

/**
 * `done`: a normal end. `cut`: its token limit. `filtered`: a content filter, or the model's refusal. `malformed`: a tool call that
 * nobody can read. `broken`: anything else, also an unknown reason.
 */
export type End = 'done' | 'cut' | 'filtered' | 'malformed' | 'broken';

const ENDS: [End, RegExp][] = [
  [
    'done',
    /^(|stop|stop_?sequence|stop_token|normal|end|end_?(of_)?turn|end_of_(message|text|sequence)|eos|eos_token|eot|done|complete|completed|finish|finished|success|tool_?calls?|tool_?use|function_?calls?|<\/s>|<(eos|end_of_turn)>|<\|(im_end|endoftext|end_?of_?text|eot_id|end)\|>)$/,
  ],
  [
    'cut',
    /^(length|max_?tokens?(_reached)?|max_(output|completion|new)_tokens|max_length|model_length|token_limit(_reached)?|out_of_tokens|(model_)?context_(window|length)_exceeded|context_length)$/,
  ],
  [
    'filtered',
    /^(content_?filter(ed)?(: .*)?|(content_)?policy_violation|error_toxic|safety|recitation|blocklist|blocked|prohibited_content|spii|image_\w+|refusal|refused|guardrail\w*|model_armor|sensitive|moderation|language)$/,
  ],
  ['malformed', /malformed_|unexpected_tool_call|too_many_tool_calls/],
];

/**
 * Tells how an answer ended. `native` is what a gateway passes on of the model's own reason: it decides where the gateway says that
 * all went well, and where it is known to say otherwise.
 */
export function findEnd(reason: unknown, native: unknown): End {
  const end = endBy(reason);
  const own = typeof native === 'string' && native !== '' ? endBy(native) : 'done';
  return end === 'done' && own !== 'broken' ? own : end;
}

function endBy(reason: unknown): End {
  if (reason === undefined || reason === null) return 'done';
  const name = String(reason)
    .trim()
    .toLowerCase()
    .replace(/^finish_?reason[_.]/, '')
    .replace(/(?<=\w)[- ](?=\w)/g, '_');
  return ENDS.find(([, names]) => names.test(name))?.[0] ?? 'broken';
}
