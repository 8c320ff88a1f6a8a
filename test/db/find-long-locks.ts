/** `always`: also of a table that the migration creates, whose name another may have had. */
type Rule = { pattern: RegExp; problem: string; always?: true };

/** Statements that lock a table for longer than a moment, or that the release before cannot do its work beside. */
const RULES: Rule[] = [
  {
    pattern: /\balter column \S+ (set data )?type\b/,
    problem: 'writes the whole table anew: add a column, and fill it in the background',
  },
  {
    pattern: /\balter column \S+ set not null\b/,
    problem: 'reads the whole table: validate a check that was added as not valid before',
  },
  {
    pattern: /\badd column .*\b(default (?!now\(\))\w+\(|generated\b|(small|big)?serial\b)/,
    problem: 'writes the whole table anew: a default must be the same for all rows',
  },
  {
    pattern: /\balter table .*\badd column [^,]*\breferences\b/,
    problem: 'locks two tables: add the constraint as not valid, and validate it in a later migration',
  },
  {
    pattern: /\balter table .*\badd (constraint \S+ )?(foreign key|check)\b(?!.*\bnot valid\b)/,
    problem: 'reads the whole table: add it as not valid, and validate it in a later migration',
  },
  {
    pattern: /\balter table .*\badd (constraint \S+ )?(unique|primary key|exclude)\b(?! using index)/,
    problem: 'builds an index under a lock: build it with create index concurrently',
  },
  {
    pattern: /\bcreate (unique )?index (?!concurrently)/,
    problem: 'stops all writes while it is built: create it concurrently, outside a transaction',
  },
  {
    pattern: /\bdrop (table|column|function|procedure|view|type|sequence|schema)\b/,
    problem: 'takes away what the release before may use: do it a release later',
    always: true,
  },
  {
    pattern: /\brename\b/,
    problem: 'takes a name away that the release before may use: add, and remove a release later',
    always: true,
  },
  {
    pattern: /\b(truncate|lock table|lock \w+ in|cluster|vacuum full|reindex (?!.*concurrently))\b/,
    problem: 'locks out everybody until the migration has ended',
    always: true,
  },
  {
    pattern: /^(update|delete from|merge into|insert into .* select)\b/,
    problem: 'locks the rows until the migration has ended: do it in the background, in parts',
  },
];

const TEXTS = /`((?:[^`\\]|\\.)*)`|'((?:[^'\\\n]|\\.)*)'/g;
const REASON = /\/\/ locks: \S/;

/**
 * Finds what a migration of this source does that may stop a service in use, by line. Tables that the migration itself creates
 * may be filled, changed and indexed, and so may everything below a line `// locks: …` that says why.
 */
export function findLongLocks(source: string): string[] {
  const lines = source.split('\n');
  // Of the same length, so that what is found has its place.
  const code = source.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, (comment) => comment.replace(/[^\n]/g, ' '));
  const problems = /\.schema\b/.test(code)
    ? ['Write SQL instead of calling db.schema: only SQL is looked at.']
    : [];
  const created = [...code.matchAll(/\bcreate (?:unlogged )?table (?:if not exists )?(\S+)/gi)].map(
    ([, name = '']) => name,
  );
  for (const match of code.matchAll(TEXTS)) {
    const line = code.slice(0, match.index).split('\n').length;
    if (REASON.test(lines[line - 2] ?? '')) continue;
    const statement = normalize(match[1] ?? match[2] ?? '');
    const [, table = ''] = /\b(?:alter table(?: only)?|on|into|update) (\S+)/.exec(statement) ?? [];
    for (const { pattern, problem, always } of RULES)
      if (pattern.test(statement) && (always || !created.includes(table)))
        problems.push(`line ${line}: \`${statement.slice(0, 60)}\` ${problem}`);
  }
  return problems;
}

/** In small letters and on one line; what a function does is done when it is called. */
function normalize(text: string): string {
  const statement = text.replace(/--.*/g, '').replace(/\s+/g, ' ').trim().toLowerCase();
  return /^create (or replace )?(function|procedure)\b/.test(statement)
    ? statement.replace(/\$(\w*)\$.*\$\1\$/, '')
    : statement;
}
