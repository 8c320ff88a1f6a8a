import { useEffect, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Select } from '../../ui/fields/select.tsx';
import { TextField } from '../../ui/fields/text-field.tsx';
import { RANGES, type Range, type RunFilter } from '../search.ts';
import type { FilterChange } from './filter-more.tsx';

const NAMES: Record<Range, string> = {
  '15m': 'Last 15 minutes',
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
};

const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'short', timeStyle: 'short' });
/** Without the year: no range is that long. */
const beginning = new Intl.DateTimeFormat('en-GB', {
  day: '2-digit',
  month: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
});

/** The share of a range after which its start is shown instead of its name. */
const OLD_AFTER = 0.1;

/**
 * Filters by start time: a range that ends now, or two fixed times. While the page stays open a range grows, so its
 * start replaces its name; choosing it again restarts it.
 */
export function FilterTime({
  filter,
  rangeFrom,
  onChange,
}: {
  filter: RunFilter;
  rangeFrom: string | undefined;
  onChange: (change: FilterChange) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const { range, since, until } = filter;
  const isFixed = since !== undefined || until !== undefined;
  const fixed = `${since ? moment.format(new Date(since)) : '…'} – ${until ? moment.format(new Date(until)) : 'now'}`;
  const isOld = useHasCome(
    range && rangeFrom ? Date.parse(rangeFrom) + RANGES[range] * 1_000 * (1 + OLD_AFTER) : undefined,
  );
  const options = [
    { id: '', label: 'Any time' },
    ...Object.entries(NAMES).map(([id, label]) => ({ id, label })),
    ...(isOld && rangeFrom ? [{ id: 'old', label: `Since ${beginning.format(new Date(rangeFrom))}` }] : []),
    { id: 'fixed', label: isFixed ? fixed : 'From … until …' },
  ];
  function choose(id: string) {
    if (id === 'fixed') setOpen(true);
    else onChange({ range: (id || undefined) as Range | undefined, since: undefined, until: undefined });
  }
  return (
    <>
      <Select
        label="Started"
        hideLabel
        options={options}
        value={isOld ? 'old' : (range ?? (isFixed ? 'fixed' : ''))}
        onChange={choose}
      />
      {isOpen && (
        <TimesDialog
          since={since}
          until={until}
          onClose={() => setOpen(false)}
          onChange={(times) => onChange({ range: undefined, ...times })}
        />
      )}
    </>
  );
}

/** Whether a time, in milliseconds since 1970, has passed. */
function useHasCome(moment: number | undefined): boolean {
  const [come, setCome] = useState<number>();
  useEffect(() => {
    if (moment === undefined) return;
    const timer = setTimeout(() => setCome(moment), moment - Date.now());
    return () => clearTimeout(timer);
  }, [moment]);
  return moment !== undefined && come === moment;
}

type Times = { since: string | undefined; until: string | undefined };

function TimesDialog({
  since,
  until,
  onChange,
  onClose,
}: Times & { onChange: (times: Times) => void; onClose: () => void }) {
  const [from, setFrom] = useState(toLocal(since));
  const [to, setTo] = useState(toLocal(until));
  const isBackwards = from !== '' && to !== '' && from >= to;
  return (
    <Dialog title="When runs started" isOpen isForm onClose={onClose}>
      <TextField
        label="From"
        type={'datetime-local' as 'text'}
        value={from}
        onChange={setFrom}
        help="In the time zone of your browser; empty for the very first."
      />
      <TextField
        label="Until"
        type={'datetime-local' as 'text'}
        value={to}
        onChange={setTo}
        help="Not included; empty for now."
        error={isBackwards ? 'This has to be later than the first time.' : undefined}
      />
      <DialogActions>
        <Button onPress={onClose}>Cancel</Button>
        <Button
          variant="primary"
          isDisabled={isBackwards}
          onPress={() => {
            onChange({ since: fromLocal(from), until: fromLocal(to) });
            onClose();
          }}
        >
          Show these runs
        </Button>
      </DialogActions>
    </Dialog>
  );
}

/** Formats a time for `datetime-local` fields: local time without a zone. */
function toLocal(at: string | undefined): string {
  if (at === undefined) return '';
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function fromLocal(text: string): string | undefined {
  return text === '' ? undefined : new Date(text).toISOString();
}
