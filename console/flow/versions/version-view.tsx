import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { useOrganization, useUserName } from '../../shell/me.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { ErrorNote, Loading } from '../../ui/feedback.tsx';
import { Select } from '../../ui/fields/select.tsx';
import { Panel, Row } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { showToast } from '../../ui/toast.tsx';
import type { Step } from '../draft/steps.ts';
import { useDraft, useFlow } from '../flow-context.ts';
import { FlowGraph } from '../graph/flow-graph.tsx';
import { PublishButton, setProduction } from '../publish-dialog.tsx';
import { FlowDifference, useSide } from './flow-difference.tsx';
import { FlowFilePanel } from './flow-file-panel.tsx';
import style from './versions.module.css';
import { nameOf, type Side } from './versions-search.ts';

type ProductionDialogProps = { version: number; isOpen: boolean; onClose: () => void };

const ROUTE = '/orgs/$org/projects/$project/flows/$flow/versions';
const NOTHING = 'nothing';

type VersionViewProps = {
  side: Side;
  /** The version's list entry; undefined for the draft and for versions that are not loaded. */
  version: Schemas['Version'] | undefined;
  versions: number[];
};

/** One version, or the draft: its graph and file, and the differences from another one if wanted. */
export function VersionView({ side, version, versions }: VersionViewProps) {
  const { flow, org } = useFlow();
  const nameOfUser = useUserName(useOrganization(org).id);
  const navigate = useNavigate({ from: ROUTE });
  const { compare } = useSearch({ from: ROUTE });
  const { steps, error } = useSide(side);
  const [selectedId, select] = useState<string>();
  const others: Side[] = ['draft', ...versions].filter((other): other is Side => other !== side);
  return (
    <section className={style.detail} aria-label={nameOf(side)}>
      <Row>
        <h2>{nameOf(side)}</h2>
        {version?.isProduction && <Badge tone="good">In production</Badge>}
        {version && (
          <span className={style.when}>
            published <Time at={version.publishedAt} />
            {version.publishedBy !== null && ` by ${nameOfUser(version.publishedBy)}`}
          </span>
        )}
      </Row>
      {version?.note && (
        <p className={style.fullNote}>
          <bdi>{version.note}</bdi>
        </p>
      )}
      {(version || steps) && (
        <Row>
          {side === 'draft' ? <PublishButton /> : <VersionActions version={side} steps={steps} />}
          <Select
            label="Compare with"
            hideLabel
            options={[
              { id: NOTHING, label: 'Compare with …' },
              ...others.map((other) => ({
                id: String(other),
                label: `Changes since ${nameOf(other).toLowerCase()}`,
              })),
            ]}
            value={compare === undefined || compare === side ? NOTHING : String(compare)}
            onChange={(id) =>
              void navigate({
                search: (search) => ({
                  version: search.version ?? side,
                  ...(id !== NOTHING && { compare: id === 'draft' ? id : Number(id) }),
                }),
                replace: true,
              })
            }
          />
        </Row>
      )}
      {error && <ErrorNote error={error} />}
      {!error && !steps && <Loading />}
      {compare !== undefined && compare !== side && (
        <Panel title={`From ${nameOf(compare).toLowerCase()} to ${nameOf(side).toLowerCase()}`}>
          <FlowDifference key={`${compare} ${side}`} from={compare} to={side} />
        </Panel>
      )}
      {steps && (
        <>
          <div className={style.graph}>
            <FlowGraph steps={steps} selectedId={selectedId} onSelect={select} />
          </div>
          <FlowFilePanel name={`${flow.slug}${side === 'draft' ? '' : `-v${side}`}.yaml`} steps={steps} />
        </>
      )}
    </section>
  );
}

/** The buttons that put a version into production or restore it into the draft. */
function VersionActions({ version, steps }: { version: number; steps: Step[] | undefined }) {
  const { flow, org, project } = useFlow();
  const { change, flush, saveState } = useDraft();
  const navigate = useNavigate();
  const [isAsking, setAsking] = useState(false);
  const { productionVersion: now } = flow;
  const isInConflict = saveState === 'conflict';

  async function restore() {
    if (!steps) return;
    change(`Restore version ${version}`, () => steps);
    await navigate({
      to: '/orgs/$org/projects/$project/flows/$flow',
      params: { org, project, flow: flow.slug },
    });
    if (await flush())
      showToast({
        tone: 'good',
        title: `The draft is version ${version} now. Undo brings the other one back.`,
      });
  }
  return (
    <>
      {version !== now && (
        <Button variant="primary" onPress={() => setAsking(true)}>
          {now !== null && version < now ? 'Roll back to it' : 'Put into production'}
        </Button>
      )}
      <Button onPress={restore} isDisabled={!steps || isInConflict}>
        Restore into the draft
      </Button>
      {isInConflict && <span>The draft was changed elsewhere too: settle that in the editor first.</span>}
      <ProductionDialog version={version} isOpen={isAsking} onClose={() => setAsking(false)} />
    </>
  );
}

/** Asks before putting a version into production, and says what callers will notice. */
function ProductionDialog({ version, isOpen, onClose }: ProductionDialogProps) {
  const { flow, projectId } = useFlow();
  const { productionVersion: now } = flow;
  const isBack = now !== null && version < now;
  async function promote() {
    await setProduction(projectId, flow.id, version);
    showToast({ tone: 'good', title: `Version ${version} is in production.` });
  }
  return (
    <ConfirmDialog
      title={isBack ? `Roll back to version ${version}?` : `Put version ${version} into production?`}
      action={isBack ? 'Roll back' : 'Put into production'}
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={promote}
    >
      <div className={style.difference}>
        <p>
          {now === null
            ? `Calls of this flow run version ${version} from now on; until now they are refused, since no version is in production.`
            : `Calls that name no version run version ${version} from now on, instead of version ${now}. Runs under way finish with the version they began with; calls that name a version are not affected.`}
        </p>
        {now !== null && isOpen && (
          <div className={style.inDialog}>
            <FlowDifference from={now} to={version} />
          </div>
        )}
      </div>
    </ConfirmDialog>
  );
}
