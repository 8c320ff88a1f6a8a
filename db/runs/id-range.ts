/** The id of a run, without its digits. */
const SHAPE = '········-····-····-····-············';

/** Returns the first and the last id that begin with `text`; undefined when there is none. */
export function idRange(text: string): { first: string; last: string } | undefined {
  const isBeginning = [...text].every((char, index) =>
    SHAPE[index] === '-' ? char === '-' : index < SHAPE.length && /[0-9a-f]/i.test(char),
  );
  if (!isBeginning) return undefined;
  const rest = SHAPE.slice(text.length);
  return { first: text + rest.replaceAll('·', '0'), last: text + rest.replaceAll('·', 'f') };
}
