import { ViewportPortal } from '@xyflow/react';
import { Plus } from 'lucide-react';
import { useContext, useRef, useState } from 'react';
import { classes } from '../../ui/classes.ts';
import { AddStepMenu } from './add-step-menu.tsx';
import style from './graph.module.css';
import { GraphEditingContext } from './graph-editing.ts';
import { END, type Gap, type Layout, type Point } from './layout.ts';
import { placeName } from './place-name.ts';
import { arrowPath, wirePath } from './wire-path.ts';

/** The lines of the graph, branch names, and the places where steps can be added or dropped. */
export function GraphOverlay({ layout, drop }: { layout: Layout; drop: Gap | undefined }) {
  const editing = useContext(GraphEditingContext);
  return (
    <ViewportPortal>
      <svg className={style.wires} width={layout.width} height={layout.height} aria-hidden>
        {layout.wires.map(({ points, kind, hasArrow }) => {
          const path = wirePath(points);
          return (
            <g key={`${kind} ${path}`} className={style[kind]}>
              <path d={path} />
              {hasArrow && <path className={style.arrow} d={arrowPath(points)} />}
            </g>
          );
        })}
      </svg>
      <span className={style.end} style={{ ...at(layout.start), width: END.width, height: END.height }}>
        Message
      </span>
      <span className={style.end} style={{ ...at(layout.end), width: END.width, height: END.height }}>
        Result
      </span>
      {layout.labels.map((label) => (
        <span
          key={`${label.stepId} ${label.branch}`}
          className={style.branch}
          style={at(label)}
          title={label.branch}
        >
          {label.branch}
        </span>
      ))}
      {editing && <Gaps gaps={layout.gaps} drop={drop} />}
    </ViewportPortal>
  );
}

function Gaps({ gaps, drop }: { gaps: Gap[]; drop: Gap | undefined }) {
  const trigger = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState<Gap>();
  return (
    <>
      {gaps.map((gap) => {
        const { branch } = gap.place;
        const name = placeName(gap.place);
        return (
          <button
            key={name}
            data-place={name}
            type="button"
            tabIndex={-1}
            aria-label={`Add a step ${branch === undefined ? '' : `to the branch ${branch} `}here`}
            className={classes(style.add, 'nopan', gap === drop && style.drop)}
            style={at(gap)}
            onClick={(event) => {
              trigger.current = event.currentTarget;
              setOpen(gap);
            }}
          >
            <Plus size={13} aria-hidden />
          </button>
        );
      })}
      <AddStepMenu place={open?.place} trigger={trigger} onClose={() => setOpen(undefined)} />
    </>
  );
}

function at({ x, y }: Point): React.CSSProperties {
  return { transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` };
}
