import { Link, type LinkProps, useParams } from '@tanstack/react-router';
import { BookOpen, ChartColumn, History, KeyRound, Settings, Webhook, Workflow } from 'lucide-react';
import type { ReactNode } from 'react';
import { Mark } from '../ui/mark.tsx';
import { AccountMenu } from './account-menu.tsx';
import { findLastProject } from './last-project.ts';
import { useMe } from './me.ts';
import style from './navigation.module.css';
import { ProjectMenu } from './project-menu.tsx';

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
