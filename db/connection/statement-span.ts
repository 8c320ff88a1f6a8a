// Spans of statements, which name their operation and tables.
import { LRUCache } from 'lru-cache';
import { inSpan, isTracing } from '../../platform/observability/tracing.ts';

/** The service has some hundreds of statements. Statements with lists of values vary with their length. */
const summaries = new LRUCache<string, string>({ max: 2_000 });

/**
 * The position of a table or function that a statement reads or writes; not the ends of `for update` and `do update
 * set`.
 */
const TARGET =
  /\b(insert into|(?<!for |key |do )update|delete from|from|join)\s+(?:only\s+)?"?(?!select\b|lateral\b)([a-z_]+)/gi;

const WORDS_MAX = 6;

/** Runs a statement in a span with its operation and tables, but never its values. */
export function inStatementSpan<T>(sql: string, send: () => Promise<T>): Promise<T> {
  if (!isTracing()) return send();
  let summary = summaries.get(sql);
  if (summary === undefined) {
    summary = summarize(sql);
    summaries.set(sql, summary);
  }
  const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': summary };
  return inSpan(summary, { kind: 'CLIENT', attributes }, send);
}

/** Summarizes a statement, such as `INSERT run` or `SELECT run flow_version`, by its first targets. */
function summarize(sql: string): string {
  const words: string[] = [];
  let last = '';
  for (const [, verb = '', name = ''] of sql.matchAll(TARGET)) {
    if (words.includes(name)) continue;
    const [word = ''] = verb
      .toUpperCase()
      .replace(/^(FROM|JOIN)$/, 'SELECT')
      .split(' ');
    words.push(...(word === last ? [name] : [word, name]));
    last = word;
    if (words.length >= WORDS_MAX) break;
  }
  return words.join(' ') || (/^\s*([a-z]+)/i.exec(sql)?.[1]?.toUpperCase() ?? 'SQL');
}
