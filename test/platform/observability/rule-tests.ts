// What the tests of the alert rules (rules.yml) feed, and which series an alert selects.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { metricsOf } from './metric-names.ts';

export const RULE_TESTS = path.join(import.meta.dirname, 'rules.yml');

type Written = {
  tests: {
    input_series: { series: string }[];
    promql_expr_test: { exp_samples: { labels: string }[] }[];
  }[];
};

/** Lists the series of each test, and the alerts that it expects to fire. */
export function readRuleTests(): { series: string[]; fires: string[] }[] {
  const { tests } = parse(readFileSync(RULE_TESTS, 'utf8')) as Written;
  return tests.map(({ input_series, promql_expr_test }) => ({
    series: input_series.map(({ series }) => series),
    fires: promql_expr_test
      .flatMap(({ exp_samples }) => exp_samples)
      .map(({ labels }) => /alertname="(\w+)"/.exec(labels)?.[1] ?? ''),
  }));
}

/** Lists what an expression selects: metrics with their matchers of labels. */
export function selectorsOf(expr: string): string[] {
  const metrics = new Set(metricsOf(expr));
  return [...expr.matchAll(/([a-z_]\w*)(\{[^}]*\})?/gi)]
    .filter(([, name = '']) => metrics.has(name))
    .map(([selector]) => selector);
}

const OPERATORS: { [operator: string]: (value: string, wanted: string) => boolean } = {
  '=': (value, wanted) => value === wanted,
  '!=': (value, wanted) => value !== wanted,
  '=~': (value, wanted) => new RegExp(`^(${wanted})$`).test(value),
  '!~': (value, wanted) => !new RegExp(`^(${wanted})$`).test(value),
};

/** Whether a selector selects a series. */
export function matches(selector: string, series: string): boolean {
  if (nameOf(selector) !== nameOf(series)) return false;
  const labels = new Map([...series.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, value]) => [label, value]));
  return [...selector.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)].every(
    ([, label, operator = '', wanted = '']) => OPERATORS[operator]?.(labels.get(label) ?? '', wanted),
  );
}

const nameOf = (text: string) => /^\w+/.exec(text)?.[0];
