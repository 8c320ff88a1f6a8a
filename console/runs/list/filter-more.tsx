import { SlidersHorizontal } from 'lucide-react';
import { useState } from 'react';
import { Dialog, DialogTrigger, Popover } from 'react-aria-components';
import { Button } from '../../ui/button.tsx';
import { DialogActions } from '../../ui/dialog.tsx';
import { fromNumber, toNumber } from '../../ui/fields/read-text.ts';
import { Select } from '../../ui/fields/select.tsx';
import { TextField } from '../../ui/fields/text-field.tsx';
import overlay from '../../ui/overlay.module.css';
import { MODE_NAMES } from '../run.ts';
import { ENVIRONMENTS, MODES, parseRunFilter, type RunFilter } from '../search.ts';
import style from './filter-bar.module.css';

/** The values to choose from. */
export type FilterChoices = {
  flows: { slug: string; name: string }[];
  /** Whether the project has more flows than these. */
  hasMoreFlows: boolean;
  /** Undefined for a member, who may not list keys. */
  keys: { keyId: string; name: string }[] | undefined;
  projects: { slug: string; name: string }[];
};

/** A change of some fields of the filter; undefined removes a field. */
export type FilterChange = { [Field in keyof RunFilter]?: RunFilter[Field] | undefined };

type Props = { filter: RunFilter; choices: FilterChoices; onChange: (change: FilterChange) => void };

/** The less common filters, behind a button that counts the active ones. */
export function FilterMore(props: Props) {
  const { version, mode, environment, key, minCost, scope, flow } = props.filter;
  const used = [version, mode, environment, key, minCost, scope && flow].filter(
    (value) => value !== undefined,
  );
  return (
    <DialogTrigger>
      <Button>
        <SlidersHorizontal size={14} aria-hidden /> More filters{used.length > 0 && ` (${used.length})`}
      </Button>
      <Popover className={overlay.popover} placement="bottom end">
        <Dialog aria-label="More filters" className={style.more as string}>
          {({ close }) => <MoreFields {...props} close={close} />}
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}

function MoreFields({ filter, choices, onChange, close }: Props & { close: () => void }) {
  const [version, setVersion] = useState(fromNumber(filter.version));
  const [cost, setCost] = useState(fromNumber(filter.minCost));
  const [key, setKey] = useState(filter.key ?? '');
  const [flow, setFlow] = useState(filter.flow ?? '');
  const takesFlow = filter.scope !== undefined || choices.hasMoreFlows;
  const typed = {
    ...(version !== '' && { version: toNumber(version) }),
    ...(cost !== '' && { minCost: toNumber(cost) }),
    ...(flow !== '' && { flow }),
    ...(!choices.keys && key !== '' && { key }),
  };
  const read = parseRunFilter(typed);
  const keys = (choices.keys ?? []).map(({ keyId, name }) => ({
    id: keyId,
    label: name,
    description: keyId,
  }));
  if (filter.key && !keys.some(({ id }) => id === filter.key))
    keys.push({ id: filter.key, label: filter.key, description: 'Of another project' });
  const isWrong = Object.keys(read).length < Object.keys(typed).length;
  function apply() {
    onChange({
      version: read.version,
      minCost: read.minCost,
      ...(!choices.keys && { key: read.key }),
      ...(takesFlow && { flow: read.flow }),
    });
    close();
  }
  return (
    <form
      className={style.fields}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isWrong) apply();
      }}
    >
      {takesFlow && (
        <TextField
          label="Flow"
          isMono
          placeholder="its slug, such as hello"
          value={flow}
          onChange={setFlow}
          error={flow !== '' && !read.flow ? 'A slug has a to z, digits and single dashes.' : undefined}
        />
      )}
      <TextField
        label="Version"
        inputMode="numeric"
        value={version}
        onChange={setVersion}
        help="0 for runs of the draft."
        error={
          version !== '' && read.version === undefined
            ? 'A version is a whole number; 0 is the draft.'
            : undefined
        }
      />
      <Select
        label="Mode"
        options={[{ id: '', label: 'Any' }, ...MODES.map((id) => ({ id, label: MODE_NAMES[id] ?? id }))]}
        value={filter.mode ?? ''}
        onChange={(id) => onChange({ mode: MODES.find((known) => known === id) })}
      />
      <Select
        label="Environment"
        options={[{ id: '', label: 'Any' }, ...ENVIRONMENTS.map((id) => ({ id, label: id }))]}
        value={filter.environment ?? ''}
        onChange={(id) => onChange({ environment: ENVIRONMENTS.find((known) => known === id) })}
      />
      {choices.keys ? (
        <Select
          label="API key"
          options={[{ id: '', label: 'Any' }, ...keys]}
          value={filter.key ?? ''}
          onChange={(id) => onChange({ key: id || undefined })}
        />
      ) : (
        <TextField
          label="API key"
          isMono
          placeholder="the 8 characters of its id"
          value={key}
          onChange={setKey}
          error={key !== '' && !read.key ? 'An id of a key has 8 letters and digits.' : undefined}
        />
      )}
      <TextField
        label="Credits, at least"
        inputMode="decimal"
        value={cost}
        onChange={setCost}
        error={cost !== '' && read.minCost === undefined ? 'A number of credits, such as 0.5.' : undefined}
      />
      <DialogActions>
        <Button onPress={close}>Close</Button>
        <Button type="submit" variant="primary" isDisabled={isWrong}>
          Apply
        </Button>
      </DialogActions>
    </form>
  );
}
