import type { TestedFlow, TestRun } from './run-tests.ts';

type Result = Pick<TestRun['results'][number], 'name' | 'status' | 'why' | 'ms'>;

/** Writes test results as JUnit XML, which CI systems show: a suite for each flow. */
export function formatJUnit(tested: TestedFlow[]): string {
  const suites = tested.flatMap(({ flow, testRun, error }) => {
    if (error !== undefined)
      return [suiteOf(flow, [{ name: 'all test cases', status: 'error', why: error, ms: null }])];
    return testRun ? [suiteOf(flow, testRun.results)] : [];
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('')}</testsuites>\n`;
}

function suiteOf(flow: string, results: Result[]): string {
  const count = (wanted: string) => results.filter(({ status }) => status === wanted).length;
  const cases = results.map((result) => caseOf(flow, result));
  return `  <testsuite name="${escapeXml(flow)}" tests="${results.length}" failures="${count('failed')}" errors="${count('error')}" skipped="${count('pending')}">\n${cases.join('')}  </testsuite>\n`;
}

function caseOf(flow: string, { name, status, why, ms }: Result): string {
  const time = ms === null ? '' : ` time="${ms / 1_000}"`;
  const opening = `    <testcase classname="${escapeXml(flow)}" name="${escapeXml(name)}"${time}`;
  if (status === 'passed') return `${opening}/>\n`;
  const element = { failed: 'failure', error: 'error', pending: 'skipped' }[status];
  return `${opening}><${element} message="${escapeXml(why ?? '')}"/></testcase>\n`;
}

/** Escapes text for an XML attribute; characters that XML cannot hold are replaced. */
function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '\u{fffd}')
    .replace(/[&<>"\t\n\r]/g, (character) => `&#${character.codePointAt(0)};`);
}
