import { Navigate } from '@tanstack/react-router';
import { useState } from 'react';
import { CreateOrganizationDialog, Invitations } from '../shell/join-organization.tsx';
import { findLastProject } from '../shell/last-project.ts';
import { useMe } from '../shell/me.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { EmptyState } from '../ui/feedback.tsx';
import { Page, Panel } from '../ui/page.tsx';

/** The first page: redirects to the last visited project, or says how to get a project. */
export function HomePage() {
  const me = useMe();
  const last = findLastProject(me);
  const [isOpen, setOpen] = useState(false);
  if (last)
    return (
      <Navigate
        to="/orgs/$org/projects/$project"
        params={{ org: last.organization.slug, project: last.project.slug }}
        replace
      />
    );
  const [organization] = me.organizations;
  return (
    <Page
      title="Welcome to Weir"
      text="Weir hosts flows, trees of model calls and code, and runs them durably: a run survives crashes, restarts and refused requests. Flows live in projects, and projects in an organization, which pays with credits."
    >
      <Invitations />
      <Panel>
        {organization ? (
          <EmptyState
            title="Create a project"
            text={`${organization.name} has no project yet. Flows and API keys belong to a project.`}
          >
            <LinkButton
              variant="primary"
              to="/orgs/$org/settings/projects"
              params={{ org: organization.slug }}
            >
              To the projects of {organization.name}
            </LinkButton>
          </EmptyState>
        ) : (
          <EmptyState
            title="Create an organization"
            text={`You are signed in as ${me.name ?? me.email ?? me.userId} and belong to no organization. Create one, or ask for an invitation to ${me.email ?? `your user id, ${me.userId}`}.`}
          >
            <Button variant="primary" onPress={() => setOpen(true)}>
              Create organization
            </Button>
          </EmptyState>
        )}
      </Panel>
      {isOpen && <CreateOrganizationDialog onClose={() => setOpen(false)} />}
    </Page>
  );
}
