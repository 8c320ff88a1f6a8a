import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useState } from 'react';
import {
  Autocomplete,
  Dialog,
  Input,
  ListBox,
  ListBoxItem,
  Modal,
  ModalOverlay,
  SearchField,
  Text,
} from 'react-aria-components';
import { $api } from '../api/client.ts';
import { signOut } from '../sign-in/session.ts';
import { formatCount, shortId } from '../ui/format.ts';
import overlay from '../ui/overlay.module.css';
import { findLastProject } from './last-project.ts';
import { useMe } from './me.ts';
import style from './palette.module.css';
import { listPlaces, type Place } from './palette-places.ts';
import { applyTheme, THEMES } from './theme.ts';

const FOUND_MAX = 8;
/** As many as fit into a window without scrolling. */
const SHOWN_MAX = 12;
/** The service searches ids from this length on. */
const ID = /^[0-9a-f-]{6,36}$/i;

/** Finds flows, runs, pages and actions by a typed text. Ctrl+K opens it on every page. */
export function Palette() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
      if (event.key.toLowerCase() !== 'k') return;
      event.preventDefault();
      setOpen((wasOpen) => !wasOpen);
    };
    addEventListener('keydown', onKeyDown);
    addEventListener(OPEN_PALETTE, onOpen);
    function onOpen() {
      setOpen(true);
    }
    return () => {
      removeEventListener('keydown', onKeyDown);
      removeEventListener(OPEN_PALETTE, onOpen);
    };
  }, []);
  return (
    <ModalOverlay className={style.overlay as string} isDismissable isOpen={isOpen} onOpenChange={setOpen}>
      <Modal className={overlay.modal as string}>
        <Dialog aria-label="Go to" className={style.dialog as string}>
          <Finder onDone={() => setOpen(false)} />
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

/** The event of the window that opens the palette. */
export const OPEN_PALETTE = 'weir-open-palette';

function Finder({ onDone }: { onDone: () => void }) {
  const me = useMe();
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const words = useDeferredValue(text.trim());
  const here = findLastProject(me);
  const flows = $api.useQuery(
    'get',
    '/api/v1/projects/{project_id}/flows',
    {
      params: {
        path: { project_id: here?.project.id ?? '' },
        query: { limit: FOUND_MAX, ...(words !== '' && { search: words }) },
      },
    },
    { enabled: here !== undefined },
  );
  const runs = $api.useQuery(
    'get',
    '/api/v1/organizations/{org_id}/runs',
    { params: { path: { org_id: here?.organization.id ?? '' }, query: { limit: FOUND_MAX, id: words } } },
    { enabled: here !== undefined && ID.test(words) },
  );
  const places: Place[] = [
    ...(flows.data?.flows ?? []).map((flow) => ({
      id: `flow ${flow.id}`,
      label: flow.name,
      detail: 'Flow',
      to: '/orgs/$org/projects/$project/flows/$flow' as const,
      params: { org: here?.organization.slug, project: here?.project.slug, flow: flow.slug },
    })),
    ...(ID.test(words) ? (runs.data?.runs ?? []) : []).map((run) => ({
      id: `run ${run.executionId}`,
      label: `Run ${shortId(run.executionId)}`,
      detail: `${run.project} / ${run.flow}`,
      to: '/orgs/$org/projects/$project/flows/$flow/runs/$executionId' as const,
      params: { org: run.organization, project: run.project, flow: run.flow, executionId: run.executionId },
    })),
    ...listPlaces(me, here, words),
  ];
  const actions = [
    ...THEMES.map(({ id, label }) => ({ id: `theme ${id}`, label, run: () => applyTheme(id) })),
    { id: 'sign out', label: 'Sign out', run: () => void signOut() },
  ].filter(({ label }) => label.toLowerCase().includes(words.toLowerCase()));
  const items = [
    ...places,
    ...(words === '' ? [] : actions.map(({ id, label }) => ({ id, label, detail: 'Action' }))),
  ].slice(0, SHOWN_MAX);

  function choose(id: string) {
    onDone();
    actions.find((action) => action.id === id)?.run();
    const place = places.find((one) => one.id === id);
    if (place) void navigate({ to: place.to, params: place.params } as Parameters<typeof navigate>[0]);
  }

  return (
    <Autocomplete inputValue={text} onInputChange={setText}>
      <SearchField aria-label="Find" autoFocus className={style.field as string}>
        <Input placeholder="Find a flow, a run by its id, a page or an action" />
      </SearchField>
      <ListBox
        aria-label="Found"
        items={items}
        className={style.list as string}
        selectionMode="none"
        onAction={(id) => choose(String(id))}
        renderEmptyState={() => (
          <p className={style.none}>
            {flows.isFetching || runs.isFetching ? 'Searching …' : 'Nothing found.'}
          </p>
        )}
      >
        {({ id, label, detail }) => (
          <ListBoxItem id={id} textValue={label} className={overlay.item as string}>
            <Text slot="label" className={style.label as string}>
              {label}
            </Text>
            <Text slot="description" className={style.detail as string}>
              {detail}
            </Text>
          </ListBoxItem>
        )}
      </ListBox>
      <p className="visually-hidden" role="status">
        {words !== '' && `${formatCount(items.length)} found`}
      </p>
    </Autocomplete>
  );
}
