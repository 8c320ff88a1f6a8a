import { type Node, type OnNodeDrag, useReactFlow } from '@xyflow/react';
import { useRef, useState } from 'react';
import { findStep, stepIdsOf } from '../draft/steps.ts';
import style from './graph.module.css';
import type { GraphEditing } from './graph-props.ts';
import { findDrop, type Gap, type Layout } from './layout.ts';
import type { StepNodeData } from './step-nodes.tsx';

type StepNode = Node<StepNodeData>;
type Drag = { ids: Set<string>; dx: number; dy: number; drop: Gap | undefined };

/** Drags a step with its inner steps to the nearest place. */
export function useStepDrag(layout: Layout, editing: GraphEditing | undefined) {
  const { screenToFlowPosition } = useReactFlow();
  const [drag, setDrag] = useState<Drag>();
  const latest = useRef<Drag>(undefined);
  const update = (next: Drag | undefined) => {
    latest.current = next;
    setDrag(next);
  };
  const onDrag: OnNodeDrag<StepNode> = (event, node) => {
    const box = layout.boxes.find(({ step }) => step.step_id === node.id);
    if (!box) return;
    const ids = latest.current?.ids ?? stepIdsOf([box.step]);
    const pointer = 'touches' in event ? event.touches[0] : (event as MouseEvent);
    const at = screenToFlowPosition({ x: pointer?.clientX ?? 0, y: pointer?.clientY ?? 0 });
    const steps = layout.boxes.filter(({ depth }) => depth === 0).map(({ step }) => step);
    const own = findStep(steps, node.id)?.place;
    update({
      ids,
      dx: node.position.x - box.x,
      dy: node.position.y - box.y,
      drop: findDrop(layout.gaps, at, ids, own),
    });
  };
  return {
    drop: drag?.drop,
    onStart: onDrag,
    onDrag,
    onStop: ((_event, node) => {
      const place = latest.current?.drop?.place;
      update(undefined);
      if (place) editing?.move(node.id, place);
    }) as OnNodeDrag<StepNode>,
    /** Returns the nodes with the dragged ones at the pointer. */
    applyTo: (nodes: StepNode[]): StepNode[] =>
      drag === undefined
        ? nodes
        : nodes.map((node) =>
            drag.ids.has(node.id)
              ? {
                  ...node,
                  position: { x: node.position.x + drag.dx, y: node.position.y + drag.dy },
                  zIndex: 100 + (node.zIndex ?? 0),
                  className: style.dragged ?? '',
                }
              : node,
          ),
  };
}
