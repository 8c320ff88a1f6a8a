import { Badge } from '../ui/badge.tsx';
import { TabLink, TabLinks } from '../ui/tabs.tsx';
import { useFlow } from './flow-context.ts';
import { FlowMenu } from './flow-menu.tsx';
import style from './flow-page.module.css';

/** The head of a flow's pages: name, version in production and tabs. */
export function FlowHead() {
  const { flow, org, project } = useFlow();
  const params = { org, project, flow: flow.slug };
  return (
    <header className={style.head}>
      <div className={style.title}>
        <h1 title={flow.name}>{flow.name}</h1>
        {flow.productionVersion === null ? (
          <Badge>Not in production</Badge>
        ) : (
          <Badge tone="good">v{flow.productionVersion} in production</Badge>
        )}
        {!flow.draftIsProduction && flow.productionVersion !== null && (
          <Badge tone="warn">
            {`Draft: ${flow.draftIsPublished ? 'same as' : 'differs from'} v${flow.latestVersion}`}
          </Badge>
        )}
        <FlowMenu />
      </div>
      <TabLinks label="Flow">
        <TabLink
          to="/orgs/$org/projects/$project/flows/$flow"
          params={params}
          activeOptions={{ exact: true, includeSearch: false }}
        >
          Editor
        </TabLink>
        <TabLink to="/orgs/$org/projects/$project/flows/$flow/versions" params={params}>
          Versions
        </TabLink>
        <TabLink to="/orgs/$org/projects/$project/flows/$flow/tests" params={params}>
          Test cases
        </TabLink>
        <TabLink to="/orgs/$org/projects/$project/flows/$flow/call" params={params}>
          Call
        </TabLink>
        <TabLink
          to="/orgs/$org/projects/$project/runs"
          params={{ org, project }}
          search={{ flow: flow.slug } as never}
        >
          Runs
        </TabLink>
      </TabLinks>
    </header>
  );
}
