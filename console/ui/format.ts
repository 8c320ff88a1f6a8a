// Formats for numbers, durations, sizes and ids.
const number = new Intl.NumberFormat('en');
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const credits = new Intl.NumberFormat('en', { maximumSignificantDigits: 4, maximumFractionDigits: 6 });
const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const balance = new Intl.NumberFormat('en', { maximumFractionDigits: 4 });

/** 12,345 */
export function formatCount(count: number): string {
  return number.format(count);
}

type Tokens = {
  promptTokens: number | null;
  cachedTokens: number;
  cacheWriteTokens: number;
  completionTokens: number | null;
  reasoningTokens: number;
  estimated?: true | undefined;
};

/** 10,000 in (9,000 cached), 603 out (405 reasoning) */
export function formatTokens(tokens: Tokens): string {
  const { promptTokens, completionTokens, reasoningTokens } = tokens;
  if (promptTokens === null || completionTokens === null) return 'Unknown: the request was aborted';
  const cached = tokens.cachedTokens > 0 && `${formatCount(tokens.cachedTokens)} cached`;
  const written = tokens.cacheWriteTokens > 0 && `${formatCount(tokens.cacheWriteTokens)} written to a cache`;
  const reasoning = reasoningTokens > 0 && `${formatCount(reasoningTokens)} reasoning`;
  const within = (...parts: (string | false)[]) => {
    const told = parts.filter(Boolean).join(', ');
    return told && ` (${told})`;
  };
  const input = `${formatCount(promptTokens)} in${within(cached, written)}`;
  const output = `${formatCount(completionTokens)} out${within(reasoning)}`;
  return `${tokens.estimated ? 'Estimated: ' : ''}${input}, ${output}`;
}

/** 12.3K */
export function formatCompact(count: number): string {
  return compact.format(count);
}

/** Credits without their unit: 12,345.67; four significant digits below 1: 0.0127 */
export function formatCredits(amount: number): string {
  if (Math.abs(amount) >= 1) return formatBalance(amount);
  return amount !== 0 && Math.abs(amount) < 0.000_001 ? '<0.000001' : credits.format(amount);
}

/** Credits of an account, with four decimals: 999.9873 */
export function formatBalance(amount: number): string {
  return balance.format(amount);
}

/** Milliseconds: 340 ms, 2.4 s, 3 min 5 s, 2 h 4 min */
export function formatDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1)} s`;
  // Rounded before it is split: 59.6 seconds are a minute.
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A local time: 30 Nov 2026, 15:07:54 */
export function formatMoment(at: string): string {
  return moment.format(new Date(at));
}

/** Bytes: 340 B, 12 KB, 3.4 MB */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 999_500 ? `${Math.round(bytes / 1_000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** The end of an id. The beginnings of ids from the same minute are alike. */
export function shortId(id: string): string {
  return id.slice(-8);
}
