// Reads what a provider says in an error: each has a shape of its own, and gateways put one into another.

/** `said`: the words for people; `names`: codes, types and statuses; `waitMs`: the time after which a repetition may succeed. */
export type ProviderWords = { said: string; names: string[]; waitMs?: number | undefined; isPage: boolean };

const TEXTS_MAX = 4;
const TEXT_MAX_CHARS = 2_000;
const NAMES_MAX = 20;
const NAME_MAX_CHARS = 100;
const LEVELS_MAX = 10;
const ITEMS_MAX = 10;
/** Only the beginning of a web page or a plain text is read. */
const PLAIN_MAX_CHARS = 8 * 1024;

/** Members that hold words, or an error that does, the most telling first. */
const WORDS = [
  ...['message', 'Message', 'msg', 'error_message', 'errorMessage', 'error_msg', 'status_msg', 'faultstring'],
  ...['error', 'errors', 'detail', 'details', 'error_description', 'description', 'title', 'fault'],
  ...[
    'metadata',
    'raw',
    'innererror',
    'inner_error',
    'base_resp',
    'fieldViolations',
    'violations',
    'response',
  ],
];
const NAMES = [
  ...['code', 'type', 'status', 'reason', 'reasons', 'error_code', 'errorCode', 'error_type', 'errorType'],
  ...['__type', 'status_code', 'quotaId', 'name'],
];

/** Reads an error in any shape: a text, or a JSON value. */
export function readProviderWords(error: unknown): ProviderWords {
  const found = { texts: [] as string[], names: new Set<string>(), waitMs: undefined as number | undefined };
  const text = typeof error === 'string' ? error.trim() : '';
  const json = typeof error === 'string' ? parseError(text) : error;
  collect(json ?? null, 0);
  if (json === undefined) for (const [, name = ''] of text.matchAll(NAMED)) addName(name);
  if (found.texts.length === 0) addText(toPlainText(text));
  const said = found.texts.join('; ') || [...found.names].join(' ');
  const waitMs = found.waitMs ?? readWait(said);
  return { said, names: [...found.names], waitMs, isPage: /^<(!doctype html|html|head)\b/i.test(text) };

  function collect(value: unknown, levels: number): void {
    if (levels > LEVELS_MAX) return;
    if (typeof value === 'string') addWords(value, levels);
    else if (Array.isArray(value)) for (const item of value.slice(0, ITEMS_MAX)) collect(item, levels + 1);
    else if (typeof value === 'object' && value !== null)
      collectFrom(value as Record<string, unknown>, levels);
  }

  function collectFrom(object: Record<string, unknown>, levels: number): void {
    for (const key of NAMES)
      for (const name of [object[key]].flat())
        if (typeof name === 'string' || typeof name === 'number') addName(String(name));
    if (String(object['@type']).endsWith('.Help')) return;
    const { loc, msg, retryDelay, estimated_time: seconds, content_filter_result: filter } = object;
    // As Google and Hugging Face have it.
    if (typeof retryDelay === 'string') found.waitMs ??= readDuration(retryDelay);
    if (typeof seconds === 'number' && seconds > 0) found.waitMs ??= seconds * 1_000;
    const filtered = filteredBy(filter);
    if (filtered) addText(`filtered: ${filtered}`);
    // As pydantic and Google have it; what else pydantic says repeats the request.
    const { field, description } = object;
    if (Array.isArray(loc) && typeof msg === 'string') addText(`${loc.join('.')}: ${msg}`);
    else if (typeof field === 'string' && typeof description === 'string')
      addText(`${field}: ${description}`);
    else for (const key of WORDS) if (Object.hasOwn(object, key)) collect(object[key], levels + 1);
  }

  function addWords(words: string, levels: number): void {
    const inner = words.trim();
    const parsed = inner.length > 1 ? parseError(inner) : undefined;
    if (parsed !== undefined) collect(parsed, levels + 1);
    else addText(toPlainText(inner));
  }

  function addText(text: string): void {
    const cut = text.slice(0, TEXT_MAX_CHARS);
    const isSaid = cut === '' || found.texts.some((said) => said.includes(cut));
    if (!isSaid && found.texts.length < TEXTS_MAX) found.texts.push(cut);
  }

  function addName(name: string): void {
    if (name.length <= NAME_MAX_CHARS && found.names.size < NAMES_MAX) found.names.add(name);
  }
}

/** The codes and types in JSON that was cut off. */
const NAMED = /"(?:code|type|status|reason|error_code|error_type)"\s*:\s*"([^"\\]{1,100})"/g;

/** Parses JSON, or the events that a server sends when it streams; undefined for another text. */
function parseError(text: string): unknown {
  const lines = /^(data|event):/.test(text)
    ? text.split(/\r?\n/).filter((line) => line.startsWith('data:'))
    : [text];
  for (const line of lines) {
    const json = line.replace(/^data:/, '').trim();
    if (!/^[{[]/.test(json)) continue;
    try {
      return JSON.parse(json);
    } catch {
      // The next line, if any.
    }
  }
  return undefined;
}

/** Names the categories by which Azure's filter was triggered. */
function filteredBy(filter: unknown): string {
  if (typeof filter !== 'object' || filter === null) return '';
  const isFiltered = (result: unknown) => (result as { filtered?: unknown } | null)?.filtered === true;
  return Object.entries(filter)
    .flatMap(([category, result]) => (isFiltered(result) ? [category] : []))
    .join(', ');
}

const TITLE = /<title\b[^<>]*>([^<]*)/i;

/** Returns a text without the tags of XML or a web page, in one line; a title comes first, unless the page repeats it. */
function toPlainText(text: string): string {
  const start = text.slice(0, PLAIN_MAX_CHARS);
  if (!start.startsWith('<')) return toLine(start);
  const title = toLine(TITLE.exec(start)?.[1] ?? '');
  const page = start
    .replace(/<(script|style|head)\b[\s\S]*?<\/\1>/gi, ' ')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/&nbsp;/g, ' ');
  const body = toLine(page);
  return body.includes(title) ? body : `${title} ${body}`.trim();
}

function toLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

const UNIT_MS: { [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a duration, such as `1.2s`, `6m0s`, `120ms` or `2 minutes`, in milliseconds; undefined when the text is none. */
export function readDuration(text: string): number | undefined {
  const parts = [
    ...text.matchAll(
      /(\d+(?:\.\d+)?)\s*(milliseconds?|ms|s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:ours?)?|d(?:ays?)?)(?![a-z])|(\d+(?:\.\d+)?)(ms|[smhd])/gi,
    ),
  ];
  if (parts.length === 0) return undefined;
  return parts.reduce((sum, [, long, unit = '', short, letter = '']) => {
    const name = (unit || letter).toLowerCase();
    const key = /^(ms|milli)/.test(name) ? 'ms' : name.charAt(0);
    return sum + Number(long ?? short) * (UNIT_MS[key] ?? 0);
  }, 0);
}

/** Finds the time that a sentence such as `Please try again in 7m12s.` names. */
function readWait(said: string): number | undefined {
  const [, wait = ''] =
    /(?:again|retry|reset|resets|wait)(?: in| after| for)? (?:about )?([\d.]+ ?[a-z]+(?:[\d.]+ ?[a-z]+)*)/i.exec(
      said,
    ) ?? [];
  return readDuration(wait);
}
