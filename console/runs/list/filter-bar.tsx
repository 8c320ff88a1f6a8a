import { X } from 'lucide-react';
import type { RefObject } from 'react';
import { statusName } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/fields/select.tsx';
import { useDebouncedText } from '../../ui/fields/use-debounced-text.ts';
import { ReturnFocus } from '../../ui/use-return-focus.ts';
import {
  isFiltered,
  OUTCOMES,
  type RunFilter,
  SEARCH_LENGTH_MAX,
  SEARCH_LENGTH_MIN,
  STATUSES,
} from '../search.ts';
import style from './filter-bar.module.css';
import { type FilterChange, type FilterChoices, FilterMore } from './filter-more.tsx';
import { FilterTime } from './filter-time.tsx';

type Props = {
  filter: RunFilter;
  /** The time from which the filter's range counts. */
  rangeFrom: string | undefined;
  onChange: (filter: RunFilter) => void;
  choices: FilterChoices;
  searchField: RefObject<HTMLInputElement | null>;
};

/** The filters of the list of runs, on one line where there is room. */
export function FilterBar({ filter, rangeFrom, onChange, choices, searchField }: Props) {
  const { flow, status, outcome, scope, project } = filter;
  const flows = [...choices.flows.map(({ slug, name }) => ({ id: slug, label: name }))];
  if (flow && !flows.some(({ id }) => id === flow)) flows.push({ id: flow, label: flow });
  return (
    <search className={style.bar} aria-label="Filters">
      <SearchField
        value={filter.search ?? ''}
        field={searchField}
        onChange={(search) => onChange(set(filter, { search: search || undefined }))}
      />
      <Select
        label="Where"
        hideLabel
        options={[
          { id: 'project', label: 'This project' },
          { id: 'organization', label: 'All projects' },
          ...(scope ? choices.projects.map(({ slug, name }) => ({ id: `p:${slug}`, label: name })) : []),
        ]}
        value={project ? `p:${project}` : (scope ?? 'project')}
        onChange={(id) =>
          onChange(
            set(filter, {
              scope: id === 'project' ? undefined : 'organization',
              project: id.startsWith('p:') ? id.slice(2) : undefined,
            }),
          )
        }
      />
      {!scope && (
        <Select
          label="Flow"
          hideLabel
          options={[{ id: '', label: 'All flows' }, ...flows]}
          value={flow ?? ''}
          onChange={(id) => onChange(set(filter, { flow: id || undefined }))}
        />
      )}
      <Select
        label="Status"
        hideLabel
        options={[
          { id: '', label: 'Any status' },
          ...[...STATUSES, ...OUTCOMES].map((id) => ({ id, label: statusName(id) })),
        ]}
        value={outcome ?? status ?? ''}
        onChange={(id) =>
          onChange(
            set(filter, {
              status: STATUSES.find((known) => known === id),
              outcome: OUTCOMES.find((known) => known === id),
            }),
          )
        }
      />
      <FilterTime
        filter={filter}
        rangeFrom={rangeFrom}
        onChange={(change) => onChange(set(filter, change))}
      />
      <FilterMore filter={filter} choices={choices} onChange={(change) => onChange(set(filter, change))} />
      {filter.error_group && (
        <Button onPress={() => onChange(set(filter, { error_group: undefined }))}>
          <X size={14} aria-hidden /> One error only
        </Button>
      )}
      {filter.bulk_id && (
        <Button onPress={() => onChange(set(filter, { bulk_id: undefined }))}>
          <X size={14} aria-hidden /> One bulk retry only
        </Button>
      )}
      {isFiltered(filter) && (
        <>
          <ReturnFocus />
          <Button variant="quiet" onPress={() => onChange(scope ? { scope } : {})}>
            <X size={14} aria-hidden /> Clear
          </Button>
        </>
      )}
    </search>
  );
}

function set(filter: RunFilter, change: FilterChange): RunFilter {
  const fields = Object.entries({ ...filter, ...change });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

function readSearch(text: string): string | undefined {
  const search = text.trim();
  return search.length <= SEARCH_LENGTH_MAX ? search : undefined;
}

function SearchField({
  value,
  field,
  onChange,
}: {
  value: string;
  field: RefObject<HTMLInputElement | null>;
  onChange: (search: string) => void;
}) {
  const { text, setText, flush } = useDebouncedText(value, readSearch, onChange);
  const isShort = text.trim() !== '' && text.trim().length < SEARCH_LENGTH_MIN;
  const isWrong = readSearch(text) === undefined;
  return (
    <div className={style.search}>
      <input
        ref={field}
        type="search"
        aria-label="Text of the message or error, or a part of the run's id"
        aria-keyshortcuts="/"
        aria-describedby={isShort || isWrong ? 'search-help' : undefined}
        placeholder="Message, error or id   /"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onBlur={flush}
      />
      {(isShort || isWrong) && (
        <span id="search-help" className={style.hint}>
          {isWrong ? `At most ${SEARCH_LENGTH_MAX} characters` : `At least ${SEARCH_LENGTH_MIN} characters`}
        </span>
      )}
    </div>
  );
}
