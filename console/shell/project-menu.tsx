import { useNavigate } from '@tanstack/react-router';
import { ChevronsUpDown } from 'lucide-react';
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
import overlay from '../ui/overlay.module.css';
import { useMe } from './me.ts';
import style from './navigation.module.css';

/** The menu of projects, grouped by organization. */
export function ProjectMenu({ org, project }: { org: string | undefined; project: string | undefined }) {
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
