import { Link, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { $api } from '../api/client.ts';
import { PAGES, refetchAfter, refreshPages } from '../api/query-options.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { classes } from '../ui/classes.ts';
import { EmptyState, MoreButton, QueryView } from '../ui/feedback.tsx';
import { useTitle } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { useFlow } from './flow-context.ts';
import page from './flow-page.module.css';
import { PublishDialog } from './publish-dialog.tsx';
import { VersionView } from './versions/version-view.tsx';
import style from './versions/versions.module.css';

const ROUTE = '/orgs/$org/projects/$project/flows/$flow/versions';

/** The versions of a flow, and the open one: graph, file, or differences from another version. */
export function VersionsPage() {
  const { flow, projectId } = useFlow();
  const params = useParams({ from: ROUTE });
  const newest = flow.productionVersion ?? flow.latestVersion ?? undefined;
  // A version that others publish meanwhile does not replace the one being read.
  const [first] = useState(newest);
  const { version: open = first ?? newest ?? 'draft' } = useSearch({ from: ROUTE });
  const [isPublishing, setPublishing] = useState(false);
  useTitle(`Versions · ${flow.name}`);
  const query = $api.useInfiniteQuery(
    'get',
    '/api/v1/projects/{project_id}/flows/{flow_id}/versions',
    { params: { path: { project_id: projectId, flow_id: flow.id }, query: { limit: 50 } } },
    { ...PAGES, refetchInterval: (query) => refetchAfter(query, refreshPages(query)) },
  );
  return (
    <div className={page.content}>
      <QueryView query={query}>
        {({ pages }) => {
          const versions = pages.flatMap(({ versions }) => versions);
          if (versions.length === 0)
            return (
              <EmptyState
                title="No version yet"
                text="A version keeps the draft as it is now. Callers run the version that is in production, so you can continue editing."
              >
                <Button variant="primary" onPress={() => setPublishing(true)}>
                  Publish
                </Button>
              </EmptyState>
            );
          return (
            <div className={style.layout}>
              <nav aria-label="Versions" className={style.list}>
                <Link
                  to={ROUTE}
                  params={params}
                  search={{ version: 'draft' }}
                  className={classes(style.version, open === 'draft' && style.open)}
                >
                  <span className={style.versionHead}>
                    Draft {flow.draftIsPublished && <Badge>Same as v{flow.latestVersion}</Badge>}
                  </span>
                </Link>
                {versions.map(({ version, note, isProduction, publishedAt }) => (
                  <Link
                    key={version}
                    to={ROUTE}
                    params={params}
                    search={{ version }}
                    className={classes(style.version, open === version && style.open)}
                  >
                    <span className={style.versionHead}>
                      Version {version} {isProduction && <Badge tone="good">In production</Badge>}
                    </span>
                    {note && <bdi className={style.note}>{note}</bdi>}
                    <span className={style.when}>
                      <Time at={publishedAt} />
                    </span>
                  </Link>
                ))}
                <MoreButton query={query} />
              </nav>
              <VersionView
                key={open}
                side={open}
                version={versions.find(({ version }) => version === open)}
                versions={versions.map(({ version }) => version)}
              />
            </div>
          );
        }}
      </QueryView>
      {/* It stays when somebody else publishes the first version meanwhile. */}
      {isPublishing && <PublishDialog onClose={() => setPublishing(false)} />}
    </div>
  );
}
