import { MiniMap, Panel } from '@xyflow/react';
import { Maximize, Minus, Plus } from 'lucide-react';
import { IconButton } from '../../ui/icon-button.tsx';
import style from './graph.module.css';
import type { GraphView } from './use-graph-view.ts';

/** Zoom buttons, and a map for large graphs. */
export function GraphControls({ view, hasMap }: { view: GraphView; hasMap: boolean }) {
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
