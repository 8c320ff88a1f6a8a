import type { LinkProps } from '@tanstack/react-router';

/** A page to go to. `search`: what it opens there. */
export type Place = {
  id: string;
  label: string;
  detail: string;
  to: LinkProps['to'];
  params?: Record<string, string | undefined>;
  search?: Record<string, string | boolean>;
};

type Named = { slug: string; name: string };
type Here = { organization: Named; project: Named };

const OF_PROJECT: [label: string, to: LinkProps['to']][] = [
  ['Flows', '/orgs/$org/projects/$project'],
  ['Runs', '/orgs/$org/projects/$project/runs'],
  ['API keys', '/orgs/$org/projects/$project/keys'],
];

const OF_ORGANIZATION: [label: string, to: LinkProps['to']][] = [
  ['Webhooks', '/orgs/$org/webhooks'],
  ['Webhook secret', '/orgs/$org/webhooks/secret'],
  ['Usage', '/orgs/$org/usage'],
  ['Organization', '/orgs/$org/settings'],
  ['Members', '/orgs/$org/settings/members'],
  ['Projects', '/orgs/$org/settings/projects'],
  ['Model keys', '/orgs/$org/settings/model-keys'],
  ['Credits', '/orgs/$org/settings/credits'],
  ['Audit log', '/orgs/$org/settings/audit-log'],
];

/** Lists the pages whose name contains the text: of the project and organization `here`, then other projects. */
export function listPlaces(
  { organizations }: { organizations: readonly (Named & { projects: readonly Named[] })[] },
  here: Here | undefined,
  text: string,
): Place[] {
  const params = here && { org: here.organization.slug, project: here.project.slug };
  const pages: Place[] = params
    ? [
        ...OF_PROJECT.map(([label, to]) => ({
          id: `page ${to}`,
          label,
          detail: here.project.name,
          to,
          params,
        })),
        ...OF_ORGANIZATION.map(([label, to]) => ({
          ...{ id: `page ${to}`, label, detail: here.organization.name, to },
          params: { org: params.org },
        })),
      ]
    : [];
  const projects = organizations.flatMap(({ slug: org, name, projects }) =>
    projects
      .filter(({ slug }) => org !== params?.org || slug !== params.project)
      .map(
        ({ slug: project, name: label }): Place => ({
          ...{ id: `project ${org}/${project}`, label, detail: `Project of ${name}` },
          ...{ to: '/orgs/$org/projects/$project', params: { org, project } },
        }),
      ),
  );
  const account: Place = { id: 'page /account', label: 'Account', detail: 'You', to: '/account' };
  return [...pages, account, ...projects].filter(({ label }) =>
    label.toLowerCase().includes(text.toLowerCase()),
  );
}
