import { ViewportPortal } from '@xyflow/react';
import { Plus } from 'lucide-react';
import { memo, type RefObject, useContext, useRef, useState } from 'react';
import { Menu, MenuItem, Popover, Text } from 'react-aria-components';
import { classes } from '../../ui/classes.ts';
import overlay from '../../ui/overlay.module.css';
import type { StepKind } from '../draft/new-step.ts';
import type { Place } from '../draft/steps.ts';
import style from './graph.module.css';
import { GraphEditingContext } from './graph-props.ts';
import { arrowPath, END, type Gap, type Layout, type Point, placeName, wirePath } from './layout.ts';
import { StepIcon } from './step-icon.tsx';

const KINDS: { kind: StepKind; name: string; text: string }[] = [
  { kind: 'llm', name: 'Model call', text: 'Asks a model with a prompt' },
  { kind: 'code', name: 'Code', text: 'JavaScript that returns the output' },
  { kind: 'passthrough', name: 'Pass through', text: 'The input as it is' },
  { kind: 'parallel', name: 'Parallel', text: 'Branches at the same time' },
  { kind: 'loop', name: 'Loop', text: 'For each item of the input, or until a value is reached' },
];

type OverlayProps = { layout: Layout; drop: Gap | undefined };

type AddStepMenuProps = {
  place: Place | undefined;
  trigger: RefObject<HTMLElement | null>;
  onClose: () => void;
};

/** The lines of the graph, branch names, and the places where steps can be added or dropped. */
export const GraphOverlay = memo(function GraphOverlay({ layout, drop }: OverlayProps) {
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
});

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

/** The menu of step kinds to insert; open while `place` is set. */
function AddStepMenu({ place, trigger, onClose }: AddStepMenuProps) {
  const editing = useContext(GraphEditingContext);
  return (
    <Popover
      aria-label="Add a step"
      className={overlay.popover}
      triggerRef={trigger}
      isOpen={place !== undefined}
      onOpenChange={(isOpen) => !isOpen && onClose()}
    >
      <Menu
        aria-label="Add a step"
        autoFocus="first"
        onAction={(kind) => {
          onClose();
          if (place) editing?.insert(kind as StepKind, place);
        }}
      >
        {KINDS.map(({ kind, name, text }) => (
          <MenuItem key={kind} id={kind} textValue={name} className={overlay.item}>
            <StepIcon kind={kind} />
            <span className={style.text}>
              <Text slot="label">{name}</Text>
              <Text slot="description" className={style.detail}>
                {text}
              </Text>
            </span>
          </MenuItem>
        ))}
      </Menu>
    </Popover>
  );
}
