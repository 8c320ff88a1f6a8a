import { Link } from '@tanstack/react-router';
import { Circle, CircleCheck } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { $api, type Schemas } from '../api/client.ts';
import { hasRole, useProject } from '../shell/me.ts';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/code-block.tsx';
import { Panel } from '../ui/page.tsx';
import { ReturnFocus } from '../ui/use-return-focus.ts';
import { listNextSteps, type NextStep } from './list-next-steps.ts';
import style from './next-steps.module.css';

type Flow = Schemas['Flow'];
type Run = Schemas['ListedRun'];

type Props = { slugs: { org: string; project: string }; flows: Flow[]; runs: Run[] };

/** The list of a newcomer's next steps; nothing once all are done or the list was dismissed. */
export function NextSteps({ slugs, flows, runs }: Props) {
  const { organization, project } = useProject(slugs);
  const [isHidden, setHidden] = useState(() => localStorage.getItem(hiddenKey(project.id)) !== null);
  const canMakeKeys = hasRole(organization, 'admin');
  const enabled = !isHidden;
  const keys = $api.useQuery(
    'get',
    '/api/v1/projects/{project_id}/api-keys',
    { params: { path: { project_id: project.id } } },
    { enabled: enabled && canMakeKeys },
  );
  const assistants = $api.useQuery('get', '/api/v1/assistants', {}, { enabled });
  const hasTried = useHasTried(project.id, enabled);
  const isKnown = assistants.data !== undefined && (!canMakeKeys || keys.data !== undefined);
  if (isHidden || !isKnown || flows.length === 0) return null;
  const steps = listNextSteps({
    sawRun: localStorage.getItem(seenKey(project.id)) !== null,
    hasTried,
    flows,
    keys: canMakeKeys ? keys.data?.apiKeys : undefined,
    assistants: assistants.data?.assistants.length ?? 0,
  });
  if (steps.every(({ isDone }) => isDone)) return null;
  const done = steps.filter(({ isDone }) => isDone).length;
  function hide() {
    localStorage.setItem(hiddenKey(project.id), 'hidden');
    setHidden(true);
  }
  return (
    <Panel
      title={`What to do next · ${done} of ${steps.length} done`}
      actions={
        <Button size="small" variant="quiet" onPress={hide}>
          Dismiss
        </Button>
      }
    >
      <ReturnFocus to="main" />
      <ol className={style.steps}>
        {steps.map((step) => (
          <li key={step.id} className={step.isDone ? `${style.step} ${style.done}` : style.step}>
            {step.isDone ? (
              <CircleCheck size={16} aria-label="Done" />
            ) : (
              <Circle size={16} aria-label="To do" />
            )}
            <div>
              <h3>
                <StepLink step={step} slugs={slugs} flow={flows[0]} run={runs[0]} projectId={project.id} />
              </h3>
              <p>{step.text}</p>
              {step.id === 'assistant' && (
                <p className={style.endpoint}>
                  <code>{mcpEndpoint()}</code> <CopyButton text={mcpEndpoint()} label="Copy the endpoint" />
                </p>
              )}
            </div>
          </li>
        ))}
      </ol>
    </Panel>
  );
}

/** Whether a user has tried a flow. Kept in this browser, because later runs push the try out of the list. */
function useHasTried(projectId: string, enabled: boolean): boolean {
  const key = `weir.tried.${projectId}`;
  const isRemembered = localStorage.getItem(key) !== null;
  const { data } = $api.useQuery(
    'get',
    '/api/v1/projects/{project_id}/runs',
    { params: { path: { project_id: projectId }, query: { limit: 100 } } },
    { enabled: enabled && !isRemembered },
  );
  const hasTried =
    isRemembered || (data?.runs.some(({ keyId, mode }) => keyId === null && mode !== 'test') ?? false);
  useEffect(() => {
    if (hasTried) localStorage.setItem(key, 'tried');
  }, [hasTried, key]);
  return hasTried;
}

type LinkProps = Pick<Props, 'slugs'> & {
  step: NextStep;
  flow: Flow | undefined;
  run: Run | undefined;
  projectId: string;
};

function StepLink({ step, slugs, flow, run, projectId }: LinkProps): ReactNode {
  if (step.id === 'run')
    return run ? (
      <Link
        to="/orgs/$org/projects/$project/flows/$flow/runs/$executionId"
        params={{ ...slugs, flow: run.flow, executionId: run.executionId }}
        onClick={() => localStorage.setItem(seenKey(projectId), 'seen')}
      >
        {step.title}
      </Link>
    ) : (
      step.title
    );
  if (step.id === 'assistant' || flow === undefined) return step.title;
  const to = step.id === 'call' ? '/orgs/$org/projects/$project/flows/$flow/call' : FLOW;
  return (
    <Link to={to} params={{ ...slugs, flow: flow.slug }}>
      {step.title}
    </Link>
  );
}

const FLOW = '/orgs/$org/projects/$project/flows/$flow';
const hiddenKey = (projectId: string) => `weir.next-steps.${projectId}`;
const seenKey = (projectId: string) => `weir.saw-run.${projectId}`;
const mcpEndpoint = () => `${location.origin}/api/v1/mcp/`;
