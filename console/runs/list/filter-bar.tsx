import { X } from 'lucide-react';
import type { RefObject } from 'react';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/fields/select.tsx';
import { useDebouncedText } from '../../ui/fields/use-debounced-text.ts';
import { ReturnFocus } from '../../ui/use-return-focus.ts';
import { STATUS_NAMES } from '../run.ts';
import { ID_LENGTH_MIN, isFiltered, OUTCOMES, type RunFilter, STATUSES } from '../search.ts';
import style from './filter-bar.module.css';
import { type FilterChange, type FilterChoices, FilterMore } from './filter-more.tsx';
import { FilterTime } from './filter-time.tsx';

type Props = {
  filter: RunFilter;
  /** The time from which the filter's range counts. */
  rangeFrom: string | undefined;
  onChange: (filter: RunFilter) => void;
  choices: FilterChoices;
  idField: RefObject<HTMLInputElement | null>;
};

/** The filters of the list of runs, on one line where there is room. */
export function FilterBar({ filter, rangeFrom, onChange, choices, idField }: Props) {
  const { flow, status, outcome, scope, project } = filter;
  const flows = [...choices.flows.map(({ slug, name }) => ({ id: slug, label: name }))];
  if (flow && !flows.some(({ id }) => id === flow)) flows.push({ id: flow, label: flow });
  return (
    <search className={style.bar} aria-label="Filters">
      <IdField
        value={filter.id ?? ''}
        field={idField}
        onChange={(id) => onChange(set(filter, { id: id || undefined }))}
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
          ...[...STATUSES, ...OUTCOMES].map((id) => ({ id, label: STATUS_NAMES[id] ?? id })),
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

function readId(text: string): string | undefined {
  const id = text.trim().toLowerCase();
  return /^[0-9a-f-]{0,36}$/.test(id) ? id : undefined;
}

function IdField({
  value,
  field,
  onChange,
}: {
  value: string;
  field: RefObject<HTMLInputElement | null>;
  onChange: (id: string) => void;
}) {
  const { text, setText, flush } = useDebouncedText(value, readId, onChange);
  const isShort = text !== '' && text.trim().length < ID_LENGTH_MIN;
  const isWrong = readId(text) === undefined;
  return (
    <div className={style.id}>
      <input
        ref={field}
        type="search"
        aria-label="Beginning of the run's id"
        aria-keyshortcuts="/"
        aria-describedby={isShort || isWrong ? 'id-filter-help' : undefined}
        placeholder="Run id   /"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onBlur={flush}
      />
      {(isShort || isWrong) && (
        <span id="id-filter-help" className={style.hint}>
          {isWrong ? 'Ids have digits, a to f, and dashes' : `At least ${ID_LENGTH_MIN} characters`}
        </span>
      )}
    </div>
  );
}
