import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { itWith } from '../../where-available.ts';
import { ALERTS_PAGE, RULES, readRules } from './metric-names.ts';
import { matches, RULE_TESTS, readRuleTests, selectorsOf } from './rule-tests.ts';

const run = promisify(execFile);
const FOLDER = path.dirname(RULES);

describe('deploy/prometheus', () => {
  it('has a runbook for each alert, and an alert for each runbook', () => {
    const headings = [...readFileSync(ALERTS_PAGE, 'utf8').matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
    const rules = readRules();
    assert.deepEqual(rules.map(({ alert }) => alert).sort(), headings.toSorted());
    for (const { alert, annotations } of rules)
      assert.equal(annotations.runbook, `docs/operating/alerts.md#${alert.toLowerCase()}`);
  });

  it('looks in jobs of Weir alone at metrics that other services have, too', () => {
    const shared = readRules()
      .flatMap(({ expr }) => selectorsOf(expr))
      .filter((selector) => !selector.startsWith('weir_'));
    assert.ok(shared.length > 10);
    for (const selector of shared) assert.match(selector, /\{job=~"\.\*weir\.\*"/);
  });

  it('has tests in which each alert fires, and does not although all that it asks for is there', () => {
    const tests = readRuleTests();
    for (const { alert, expr } of readRules()) {
      assert.ok(
        tests.some(({ fires }) => fires.includes(alert)),
        `${alert} fires in no test`,
      );
      const isGiven = (series: string[]) =>
        selectorsOf(expr).every((selector) => series.some((one) => matches(selector, one)));
      assert.ok(
        tests.some(({ fires, series }) => !fires.includes(alert) && isGiven(series)),
        `${alert} is quiet only where it has nothing to look at`,
      );
    }
  });

  itWith(['promtool'], 'has rules and a configuration that promtool accepts', async () => {
    await run('promtool', ['check', 'config', path.join(FOLDER, 'prometheus.yml')]);
  });

  itWith(['promtool'], 'has rules that fire when they should, and only then', async () => {
    const { stdout } = await run('promtool', ['test', 'rules', RULE_TESTS]);
    assert.match(stdout, /SUCCESS/);
  });
});
