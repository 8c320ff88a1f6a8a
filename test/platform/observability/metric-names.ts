// Names of metrics: those that a service serves, and those that a query asks for.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

const ROOT = path.join(import.meta.dirname, '../../..');
export const RULES = path.join(ROOT, 'deploy/prometheus/weir-rules.yml');
const DASHBOARD = path.join(ROOT, 'deploy/grafana/weir.json');
export const ALERTS_PAGE = path.join(ROOT, 'docs/operating/alerts.md');

/** The words of PromQL that look like names of metrics. */
const WORDS = new Set(
  'sum min max avg count absent rate increase min_over_time predict_linear histogram_quantile by on and or unless group_left le'.split(
    ' ',
  ),
);

/** Lists the names of the series in a text of Prometheus. */
export function namesIn(text: string): Set<string> {
  const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Set(series.map((line) => /^\w+/.exec(line)?.[0] ?? ''));
}

/** Lists the metrics that a query names. */
export function metricsOf(query: string): string[] {
  const bare = query
    .replace(/"[^"]*"/g, '')
    .replace(/\{[^}]*\}/g, '')
    .replace(/\[[^\]]*\]/g, '')
    .replace(/\b(by|on|group_left)\s*\([^)]*\)/g, '');
  return (bare.match(/[a-z_]\w*/gi) ?? []).filter((name) => !WORDS.has(name));
}

type Rule = { alert: string; expr: string; annotations: { summary: string; runbook: string } };

export function readRules(): Rule[] {
  return parse(readFileSync(RULES, 'utf8')).groups.flatMap(({ rules }: { rules: Rule[] }) => rules);
}

/** Lists the queries of the dashboard. */
export function readQueries(): string[] {
  const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as {
    panels: { targets?: { expr: string }[] }[];
  };
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
}
