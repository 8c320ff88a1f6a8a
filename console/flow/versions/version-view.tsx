import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { useOrganization } from '../../shell/me.ts';
import { useUserName } from '../../shell/use-user-name.ts';
import { Badge } from '../../ui/badge.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Panel, Row } from '../../ui/page.tsx';
import { Select } from '../../ui/select.tsx';
import { Time } from '../../ui/time.tsx';
import { useFlow } from '../flow-context.ts';
import { FlowGraph } from '../graph/flow-graph.tsx';
import { PublishButton } from '../publish-button.tsx';
import { FlowDifference } from './flow-difference.tsx';
import { FlowFilePanel } from './flow-file-panel.tsx';
import { nameOf, type Side } from './side.ts';
import { useSide } from './use-side.ts';
import { VersionActions } from './version-actions.tsx';
import style from './versions.module.css';

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
