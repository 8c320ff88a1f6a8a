import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { ToggleButton, ToggleButtonGroup } from 'react-aria-components';
import { hasRole, useProject } from '../shell/me.ts';
import { ListenNote, RoleNote } from '../shell/notes.tsx';
import { Button } from '../ui/button.tsx';
import { CodeBlock } from '../ui/code-block.tsx';
import { Note } from '../ui/feedback.tsx';
import { Select } from '../ui/fields/select.tsx';
import { Panel, Row, Stack, useTitle } from '../ui/page.tsx';
import style from './call/call.module.css';
import { callSnippet, type Language, type Way } from './call/call-snippets.ts';
import { KeyDialog } from './call/key-dialog.tsx';
import { useDraft, useFlow } from './flow-context.ts';
import { parametersUsed } from './try/try-input.ts';

type Search = { way: Way; language: Language; pinned: number | undefined };

const WAYS: { id: Way; label: string; text: string }[] = [
  {
    id: 'execute',
    label: 'Wait for the answer',
    text: 'One request; the response comes when the run has ended.',
  },
  {
    id: 'jobs',
    label: 'Start a job',
    text: 'The response comes at once; poll the run, or follow its events, until it has ended.',
  },
  {
    id: 'webhook',
    label: 'Get a webhook',
    text: 'A job whose result Weir posts, signed, to your https address.',
  },
  {
    id: 'step',
    label: 'Step by step',
    text: 'One step per request; look at each output, and change it on the way.',
  },
];
const LANGUAGES: { id: Language; label: string }[] = [
  { id: 'curl', label: 'curl' },
  { id: 'typescript', label: 'TypeScript' },
  { id: 'python', label: 'Python' },
];
const NEEDS: Record<Language, string> = {
  curl: 'Needs bash and curl 7.76 or newer.',
  typescript: 'Needs Node.js 24 (node call.ts), no packages.',
  python: 'Needs Python 3.8 or newer, no packages.',
};

/** Shows programs that call the flow, ready to be copied, and creates a key for them. */
export function CallPage() {
  const { flow, org, project } = useFlow();
  useTitle(`Call · ${flow.name}`);
  const { organization } = useProject({ org, project });
  const { steps } = useDraft();
  const [search, set] = useCallSearch();
  const [apiKey, setApiKey] = useState<string>();
  const [isMaking, setMaking] = useState(false);
  const { way, language } = search;
  const latest = flow.latestVersion;
  const isUncallable = flow.productionVersion === null;
  const isPinned = latest !== null && (search.pinned !== undefined || isUncallable);
  const pinned = search.pinned ?? flow.productionVersion ?? latest ?? 1;
  const base = `${location.origin}/api/v1/seq/${org}/${project}/${flow.slug}`;
  const text = callSnippet(way, language, {
    url: isPinned ? `${base}/v${pinned}` : base,
    message: 'Hello',
    parameters: parametersUsed(steps),
    callbackUrl: 'https://example.com/weir-webhook',
    apiKey,
  });
  const versions = [
    ...(isUncallable ? [] : [{ id: '', label: `Production (v${flow.productionVersion} now)` }]),
    ...Array.from({ length: latest ?? 0 }, (_, at) => String((latest ?? 0) - at)).map((id) => ({
      id,
      label: `v${id}, always`,
    })),
  ];
  if (latest === null)
    return (
      <div className={style.page}>
        <Note tone="warn">
          This flow cannot be called yet: callers run published versions, and it has none. Publish the draft
          in the{' '}
          <Link to="/orgs/$org/projects/$project/flows/$flow" params={{ org, project, flow: flow.slug }}>
            editor
          </Link>{' '}
          and put it into production. You can try the draft there without that.
        </Note>
      </div>
    );

  return (
    <div className={style.page}>
      {isUncallable && (
        <Note tone="warn">
          No version is in production, so a call has to name one. Choose one on the page{' '}
          <Link
            to="/orgs/$org/projects/$project/flows/$flow/versions"
            params={{ org, project, flow: flow.slug }}
          >
            Versions
          </Link>
          .
        </Note>
      )}
      <Panel title="Call this flow">
        <Stack>
          <div className={style.choices}>
            <Choice label="Way" options={WAYS} value={way} onChange={(way) => set({ way })} />
            <Select
              label="Version"
              options={versions}
              value={isPinned ? String(pinned) : ''}
              onChange={(id) => set({ pinned: id === '' ? undefined : Number(id) })}
            />
          </div>
          <p className={style.soft}>{WAYS.find(({ id }) => id === way)?.text}</p>
          <Row>
            <Choice
              label="Language"
              options={LANGUAGES}
              value={language}
              onChange={(language) => set({ language })}
            />
          </Row>
          <CodeBlock text={text} label={`Program in ${LANGUAGES.find(({ id }) => id === language)?.label}`} />
          <p className={style.soft}>
            {NEEDS[language]} More complete programs, which repeat requests and resume streams, are in{' '}
            <code>examples/clients</code>; every field is in the <a href="/reference">API reference</a>.
          </p>
          {way === 'webhook' && <ListenNote />}
          {way === 'webhook' && (
            <Note>
              Replace <code>https://example.com/weir-webhook</code>. Verify the signature of each request
              before you read it:{' '}
              <Link to="/orgs/$org/webhooks" params={{ org }}>
                Webhooks
              </Link>{' '}
              has the signing secret and the code for it.
            </Note>
          )}
        </Stack>
      </Panel>
      <Panel title="API key">
        <Stack>
          {apiKey === undefined ? (
            <>
              <p>
                The program reads the key from the environment variable <code>WEIR_API_KEY</code>. A key is
                for the whole project {project}; make one for each program, so that you can revoke it alone.
              </p>
              <RoleNote organization={organization} needed="admin" to="make an API key" />
              <Row>
                <Button isDisabled={!hasRole(organization, 'admin')} onPress={() => setMaking(true)}>
                  Make a key here
                </Button>
              </Row>
            </>
          ) : (
            <>
              <Note tone="warn">
                The key is in the program above until you leave this page, and is shown only now: copy it.
              </Note>
              <CodeBlock text={apiKey} label="API key" isWrapped />
            </>
          )}
        </Stack>
      </Panel>
      {isMaking && (
        <KeyDialog
          onClose={() => setMaking(false)}
          onMade={(made) => {
            setApiKey(made);
            setMaking(false);
          }}
        />
      )}
    </div>
  );
}

/** Lets the user choose one of a few options that are all visible. */
function Choice<Id extends string>({
  label,
  options,
  value,
  onChange,
}: {
  label: string;
  options: readonly { id: Id; label: string }[];
  value: Id;
  onChange: (id: Id) => void;
}) {
  return (
    <ToggleButtonGroup
      aria-label={label}
      className={style.group ?? ''}
      selectionMode="single"
      disallowEmptySelection
      selectedKeys={[value]}
      onSelectionChange={(keys) => {
        const [id] = keys;
        if (id !== undefined) onChange(id as Id);
      }}
    >
      {options.map(({ id, label }) => (
        <ToggleButton key={id} id={id} className={style.option ?? ''}>
          {label}
        </ToggleButton>
      ))}
    </ToggleButtonGroup>
  );
}

/** Reads and changes the choices of the page, which are search parameters: `?way=jobs&language=python&pinned=3`. */
function useCallSearch(): [Search, (changed: Partial<Search>) => void] {
  const { way, language, pinned } = useSearch({ strict: false }) as Record<string, unknown>;
  const navigate = useNavigate();
  const search: Search = {
    way: oneOf(way, ['execute', 'jobs', 'step', 'webhook']),
    language: oneOf(language, ['curl', 'typescript', 'python']),
    pinned: Number.isInteger(Number(pinned)) && Number(pinned) > 0 ? Number(pinned) : undefined,
  };
  return [
    search,
    (changed) =>
      void navigate({
        to: '.',
        search: ((before: object) => ({ ...before, ...changed })) as never,
        replace: true,
        resetScroll: false,
      }),
  ];
}

function oneOf<T extends string>(value: unknown, allowed: [T, ...T[]]): T {
  return allowed.find((one) => one === value) ?? allowed[0];
}
