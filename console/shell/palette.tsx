import { useMatchRoute, useNavigate, useParams } from '@tanstack/react-router';
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
import { type MyOrganization, useMe } from './me.ts';
import style from './palette.module.css';
import { listActions } from './palette-actions.ts';
import { listPlaces, type Place } from './palette-places.ts';
import { applyTheme, THEMES } from './theme.ts';

const FOUND_MAX = 8;
/** As many as fit into a window without scrolling. */
const SHOWN_MAX = 12;
/** However much else is found, so many actions are shown. */
const ACTIONS_MIN = 4;
/** A text that may be a part of an id. */
const ID = /^[0-9a-f-]{4,36}$/i;
const ID_CHARS = 36;

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

/** Finds runs by their id, or by any part of it, such as the end that pages show. */
function findById(text: string): { id: string } | { search: string } {
  return text.length === ID_CHARS ? { id: text } : { search: text };
}

/** Finds the project to search: of the organization in the address, else the one visited last. */
function findHere(
  me: ReturnType<typeof useMe>,
  org: string | undefined,
): ReturnType<typeof findLastProject<MyOrganization>> {
  const last = findLastProject(me);
  const organization = me.organizations.find(({ slug }) => slug === org);
  if (!organization || organization.slug === last?.organization.slug) return last;
  const [project] = organization.projects;
  return project && { organization, project };
}

function Finder({ onDone }: { onDone: () => void }) {
  const me = useMe();
  const navigate = useNavigate();
  const matches = useMatchRoute();
  const slugs = useParams({ strict: false });
  const [text, setText] = useState('');
  const words = useDeferredValue(text.trim());
  const here = findHere(me, slugs.org);
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
    {
      params: {
        path: { org_id: here?.organization.id ?? '' },
        query: { limit: FOUND_MAX, ...findById(words) },
      },
    },
    { enabled: here !== undefined && ID.test(words) },
  );
  const found: Place[] = [
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
  ];
  const organization = me.organizations.find(({ slug }) => slug === slugs.org) ?? here?.organization;
  const places: Place[] = [...found, ...listPlaces(me, here, words)];
  const actions: Place[] =
    words === '' || !organization
      ? []
      : listActions({ organization, project: here?.project, flow: slugs.flow }, words);
  const commands = [
    ...THEMES.map(({ id, label }) => ({ id: `theme ${id}`, label, run: () => applyTheme(id) })),
    { id: 'sign out', label: 'Sign out', run: () => void signOut() },
  ].filter(({ label }) => words !== '' && label.toLowerCase().includes(words.toLowerCase()));
  const toDo = [...actions, ...commands.map(({ id, label }) => ({ id, label, detail: 'Action' }))];
  const items = [...places.slice(0, SHOWN_MAX - Math.min(toDo.length, ACTIONS_MIN)), ...toDo].slice(
    0,
    SHOWN_MAX,
  );

  function choose(id: string) {
    onDone();
    commands.find((command) => command.id === id)?.run();
    const place = [...places, ...actions].find((one) => one.id === id);
    if (!place) return;
    const { to, params, search } = place;
    // An action on the page that is open changes nothing else there, such as the selected step.
    const isOpen = matches({ to, params, includeSearch: false } as never) !== false;
    void navigate({
      ...{ to, params },
      ...(search && { search: (kept: object) => ({ ...(isOpen && kept), ...search }) }),
    } as Parameters<typeof navigate>[0]);
  }

  return (
    <Autocomplete inputValue={text} onInputChange={setText}>
      <SearchField aria-label="Find" autoFocus className={style.field as string}>
        <Input placeholder="Find a flow, a run by its id, a page or an action" />
      </SearchField>
      {/* Below the list it would make the dialog scroll. */}
      <p className="visually-hidden" role="status">
        {words !== '' && `${formatCount(items.length)} found`}
      </p>
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
    </Autocomplete>
  );
}
