import { SEARCH_ATTRIBUTES } from '../../flow/run.ts';
import { failure, type Result, warning } from './finding.ts';

/** The server's own, by which workers find workflows whose task fails or loses its worker. */
const REPORTED_PROBLEMS = 'TemporalReportedProblems';

/** Describes which search attributes are missing among those that the namespace has; undefined: they cannot be listed. */
export function describeAttributes(names: string[] | undefined): Result[] {
  if (names === undefined)
    return [
      warning(
        'The search attributes of the namespace cannot be listed with these rights.',
        `Have its owner check that it has ${Object.keys(SEARCH_ATTRIBUTES).join(', ')}.`,
      ),
    ];
  const results: Result[] = [];
  const missing = Object.entries(SEARCH_ATTRIBUTES).filter(([name]) => !names.includes(name));
  if (missing.length > 0)
    results.push(
      failure(
        `The namespace lacks the search attributes ${missing.map(([name, type]) => `${name} (${type})`).join(', ')}.`,
        'A worker registers them when it starts; on Temporal Cloud, add them yourself.',
      ),
    );
  if (!names.includes(REPORTED_PROBLEMS))
    results.push(
      warning(
        `This server does not set ${REPORTED_PROBLEMS}: workflows whose task fails again and again are not counted and not logged, and runs that lose their workers are not parked.`,
        'Use Temporal server 1.31 or newer. Until then look in the Temporal Web UI for runs that stand still.',
      ),
    );
  return results;
}
