import {
  Background,
  MiniMap,
  type Node,
  Panel,
  ReactFlow,
  ReactFlowProvider,
  useStoreApi,
} from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import { Maximize, Minus, Plus } from 'lucide-react';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { IconButton } from '../../ui/button.tsx';
import { eachStep, findStep, type Step } from '../draft/steps.ts';
import style from './graph.module.css';
import { ShortcutsDialog, useGraphKeys } from './graph-keys.tsx';
import { GraphOverlay } from './graph-overlay.tsx';
import { type FlowGraphProps, GraphEditingContext } from './graph-props.ts';
import { layOut, shapeOf } from './layout.ts';
import { BlockNode, FrameNode, type StepNodeData } from './step-nodes.tsx';
import { type GraphView, useGraphView, useUnzoom } from './use-graph-view.ts';
import { useStepDrag } from './use-step-drag.ts';

const NODE_TYPES = { block: BlockNode, frame: FrameNode };
const MAP_FROM = 30;

type StepNode = Node<StepNodeData>;

/** The graph on a canvas that can be panned and zoomed. */
export default function GraphCanvas(props: FlowGraphProps) {
  return (
    <ReactFlowProvider>
      <Canvas {...props} />
    </ReactFlowProvider>
  );
}

function Canvas({ label = 'Steps of the flow', ...props }: FlowGraphProps) {
  const { steps, selectedId, onSelect, onOpen, statuses, problems, editing } = props;
  const shape = useShape(steps);
  const layout = useMemo(() => layOut(shape), [shape]);
  const root = useRef<HTMLDivElement>(null);
  const drag = useStepDrag(layout, editing);
  const view = useGraphView(layout, selectedId);
  const keys = useGraphKeys(root, props, view);
  const tabStop = findStep(steps, selectedId) ? selectedId : steps[0]?.step_id;
  const current = useMemo(
    () => new Map([...eachStep(steps)].map(({ step }) => [step.step_id, step])),
    [steps],
  );
  const nodes = useUnchanged(
    layout.boxes.map(({ step, x, y, width, height, depth }): StepNode => {
      const id = step.step_id;
      return {
        id,
        type: step.type === 'sequential' ? 'block' : 'frame',
        position: { x, y },
        width,
        height,
        measured: { width, height },
        zIndex: depth,
        dragHandle: `.${style.handle}`,
        domAttributes: { 'aria-roledescription': undefined },
        data: {
          step: current.get(id) ?? step,
          depth,
          status: statuses?.get(id),
          problems: problems?.filter(({ stepId }) => stepId === id) ?? [],
          isSelected: id === selectedId,
          hasTabStop: id === tabStop,
        },
      };
    }),
  );
  const onNodeClick = useCallback(
    (_event: unknown, { id }: StepNode) => {
      onSelect?.(id);
      onOpen?.(id);
    },
    [onSelect, onOpen],
  );
  useTree(root, label);
  useUnzoom(root);
  return (
    <GraphEditingContext value={editing}>
      <div ref={root} className={style.canvas} {...keys.handlers}>
        <ReactFlow
          nodes={drag.applyTo(nodes)}
          nodeTypes={NODE_TYPES}
          minZoom={0.15}
          maxZoom={2}
          nodesDraggable={editing !== undefined && !matchMedia('(pointer: coarse)').matches}
          nodesConnectable={false}
          nodesFocusable={false}
          elementsSelectable={false}
          nodeDragThreshold={5}
          panOnScroll={editing !== undefined}
          zoomOnScroll={false}
          preventScrolling={editing !== undefined}
          zoomOnDoubleClick={false}
          deleteKeyCode={null}
          selectionKeyCode={null}
          multiSelectionKeyCode={null}
          panActivationKeyCode={null}
          disableKeyboardA11y
          onNodeClick={onNodeClick}
          onPaneClick={() => onSelect?.(undefined)}
          onMoveStart={view.onMoveStart}
          onNodeDragStart={drag.onStart}
          onNodeDrag={drag.onDrag}
          onNodeDragStop={drag.onStop}
        >
          <Background gap={22} size={1.5} />
          <GraphOverlay layout={layout} drop={drag.drop} />
          <GraphControls view={view} hasMap={layout.boxes.length > MAP_FROM} />
        </ReactFlow>
      </div>
      <ShortcutsDialog
        isOpen={keys.hasShortcuts}
        isEditing={editing !== undefined}
        onClose={keys.closeShortcuts}
      />
    </GraphEditingContext>
  );
}

/** Returns the steps as they were when the shape of their tree last changed, on which alone the layout depends. */
function useShape(steps: Step[]): Step[] {
  const [shape, setShape] = useState(steps);
  if (shape !== steps && shapeOf(shape) !== shapeOf(steps)) setShape(steps);
  return shape;
}

/** Returns the nodes. Unchanged nodes keep their objects, so React draws only changed ones. */
function useUnchanged(nodes: StepNode[]): StepNode[] {
  const last = useRef(nodes);
  const before = last.current;
  const byId = new Map(before.map((node) => [node.id, node]));
  const kept = nodes.map((node) => {
    const known = byId.get(node.id);
    return known && isSameNode(known, node) ? known : node;
  });
  const isSame = kept.length === before.length && kept.every((node, index) => node === before[index]);
  if (!isSame) last.current = kept;
  return last.current;
}

function isSameNode(a: StepNode, b: StepNode): boolean {
  return a.data.step === b.data.step && JSON.stringify(withoutStep(a)) === JSON.stringify(withoutStep(b));
}

function withoutStep({ data, ...node }: StepNode): object {
  return { ...node, data: { ...data, step: undefined } };
}

/** Gives the element of the nodes the role `tree`; React Flow gives it none. */
function useTree(root: React.RefObject<HTMLDivElement | null>, label: string): void {
  const { getState } = useStoreApi();
  useEffect(() => {
    const tree = (root.current ?? getState().domNode)?.querySelector('.react-flow__nodes');
    tree?.setAttribute('role', 'tree');
    tree?.setAttribute('aria-label', label);
  }, [root, label, getState]);
}

/** Zoom buttons, and a map for large graphs. */
function GraphControls({ view, hasMap }: { view: GraphView; hasMap: boolean }) {
  return (
    <>
      <Panel position="bottom-left" className={style.controls}>
        <IconButton label="Zoom out" size="small" onPress={() => view.zoom('out')}>
          <Minus size={15} />
        </IconButton>
        <IconButton label="Zoom in" size="small" onPress={() => view.zoom('in')}>
          <Plus size={15} />
        </IconButton>
        <IconButton label="Show the whole flow" size="small" onPress={view.fit}>
          <Maximize size={14} />
        </IconButton>
      </Panel>
      {hasMap && <MiniMap className={style.map} pannable ariaLabel="Map of the flow" />}
    </>
  );
}
