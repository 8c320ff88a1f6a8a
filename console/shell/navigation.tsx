import { Link, type LinkProps, useNavigate, useParams } from '@tanstack/react-router';
import {
  BookOpen,
  ChartColumn,
  ChevronsUpDown,
  History,
  KeyRound,
  Search,
  Settings,
  Webhook,
  Workflow,
} from 'lucide-react';
import type { ReactNode } from 'react';
import {
  Menu as AriaMenu,
  MenuItem as AriaMenuItem,
  Button,
  Collection,
  Header,
  MenuSection,
  MenuTrigger,
  Popover,
} from 'react-aria-components';
import { signOut } from '../sign-in/session.ts';
import { classes } from '../ui/classes.ts';
import { Menu, MenuItem } from '../ui/menu.tsx';
import overlay from '../ui/overlay.module.css';
import { findLastProject } from './last-project.ts';
import { Mark } from './mark.tsx';
import { useMe } from './me.ts';
import style from './navigation.module.css';
import { OPEN_PALETTE } from './palette.tsx';
import { applyTheme, THEMES, useTheme } from './theme.ts';

const ICON = 15;

/** The navigation, for the organization and project in the address, otherwise those visited last. */
export function Navigation() {
  const me = useMe();
  const slugs = useParams({ strict: false });
  const last = findLastProject(me);
  const org = slugs.org ?? last?.organization.slug;
  const organization = me.organizations.find(({ slug }) => slug === org);
  const project =
    slugs.project ??
    organization?.projects.find(({ slug }) => slug === last?.project.slug)?.slug ??
    organization?.projects[0]?.slug;
  return (
    <nav aria-label="Console" className={style.navigation}>
      <Link to="/" className={style.brand}>
        <Mark size={22} /> Weir
      </Link>
      <ProjectMenu org={org} project={project} />
      <Button
        className={classes(style.place, style.find)}
        onPress={() => dispatchEvent(new Event(OPEN_PALETTE))}
      >
        <Search size={ICON} aria-hidden /> Find <kbd aria-hidden>Ctrl K</kbd>
      </Button>
      {org && project && (
        <ul className={style.group}>
          <NavigationLink
            to="/orgs/$org/projects/$project"
            params={{ org, project }}
            activeOptions={{ exact: true, includeSearch: false }}
          >
            <Workflow size={ICON} /> Flows
          </NavigationLink>
          <NavigationLink to="/orgs/$org/projects/$project/runs" params={{ org, project }}>
            <History size={ICON} /> Runs
          </NavigationLink>
          <NavigationLink to="/orgs/$org/projects/$project/keys" params={{ org, project }}>
            <KeyRound size={ICON} /> API keys
          </NavigationLink>
        </ul>
      )}
      {org && (
        <>
          {/* Not a heading: it would come before the page's. */}
          <p className={style.heading} aria-hidden>
            Organization
          </p>
          <ul className={style.group} aria-label="Organization">
            <NavigationLink to="/orgs/$org/webhooks" params={{ org }}>
              <Webhook size={ICON} /> Webhooks
            </NavigationLink>
            <NavigationLink to="/orgs/$org/usage" params={{ org }}>
              <ChartColumn size={ICON} /> Usage
            </NavigationLink>
            <NavigationLink to="/orgs/$org/settings" params={{ org }}>
              <Settings size={ICON} /> Settings
            </NavigationLink>
          </ul>
        </>
      )}
      <div className={style.foot}>
        <a className={style.place} href="/reference" target="_blank" rel="noreferrer">
          <BookOpen size={ICON} /> API reference
        </a>
        <AccountMenu />
      </div>
    </nav>
  );
}

function NavigationLink({ children, ...props }: LinkProps & { children: ReactNode }) {
  return (
    <li>
      <Link {...props} className={style.place}>
        {children}
      </Link>
    </li>
  );
}

/** The menu of the signed-in user: account, colours, sign out. */
function AccountMenu() {
  const { name, email, userId } = useMe();
  const navigate = useNavigate();
  const theme = useTheme();
  return (
    <Menu
      label="Account"
      trigger={
        <Button className={classes(style.trigger, style.account)} aria-label="Account">
          <span className={style.names}>
            <span>{name ?? email ?? userId}</span>
            <span>{email ?? userId}</span>
          </span>
          <ChevronsUpDown size={14} aria-hidden />
        </Button>
      }
    >
      <MenuItem onAction={() => void navigate({ to: '/account' })}>Account</MenuItem>
      {THEMES.map(({ id, label }) => (
        <MenuItem key={id} onAction={() => applyTheme(id)}>
          {theme === id ? `${label} ✓` : label}
        </MenuItem>
      ))}
      <MenuItem onAction={() => void signOut()}>Sign out</MenuItem>
    </Menu>
  );
}

/** The menu of projects, grouped by organization. */
function ProjectMenu({ org, project }: { org: string | undefined; project: string | undefined }) {
  const me = useMe();
  const navigate = useNavigate();
  const organization = me.organizations.find(({ slug }) => slug === org);
  const current = organization?.projects.find(({ slug }) => slug === project);
  const key = org && project ? `${org}/${project}` : '';
  function open(id: string) {
    const [org = '', project = ''] = id.split('/');
    if (project === '') void navigate({ to: '/orgs/$org/settings/projects', params: { org } });
    else void navigate({ to: '/orgs/$org/projects/$project', params: { org, project } });
  }
  return (
    <MenuTrigger>
      <Button
        className={style.trigger}
        aria-label={`Project: ${current?.name ?? 'none'}, of ${organization?.name ?? 'no organization'}`}
      >
        <span className={style.names}>
          <strong>{current?.name ?? 'No project'}</strong>
          <span>{organization?.name ?? 'No organization'}</span>
        </span>
        <ChevronsUpDown size={14} aria-hidden />
      </Button>
      <Popover className={overlay.popover} placement="bottom start">
        <AriaMenu
          aria-label="Projects"
          selectionMode="single"
          selectedKeys={key ? [key] : []}
          onAction={(id) => open(String(id))}
          items={me.organizations}
        >
          {(organization) => (
            <MenuSection id={organization.slug}>
              <Header className={overlay.section}>{organization.name}</Header>
              <Collection items={organization.projects}>
                {(project) => (
                  <AriaMenuItem
                    id={`${organization.slug}/${project.slug}`}
                    textValue={project.name}
                    className={overlay.item}
                  >
                    {project.name}
                  </AriaMenuItem>
                )}
              </Collection>
              <AriaMenuItem id={`${organization.slug}/`} className={overlay.item}>
                Projects …
              </AriaMenuItem>
            </MenuSection>
          )}
        </AriaMenu>
        {me.hasMore && (
          <p className={overlay.section}>
            There are more than are listed here: they open at their addresses, projects also from “Projects
            …”.
          </p>
        )}
      </Popover>
    </MenuTrigger>
  );
}
