import { MiniMap, Panel, useReactFlow } from '@xyflow/react';
import { Maximize, Minus, Plus } from 'lucide-react';
import { IconButton } from '../../ui/icon-button.tsx';
import style from './graph.module.css';

/** Buttons that zoom, and a map of a large graph. */
export function GraphControls({ fit, hasMap }: { fit: () => void; hasMap: boolean }) {
  const { zoomIn, zoomOut } = useReactFlow();
  return (
    <>
      <Panel position="bottom-left" className={style.controls}>
        <IconButton label="Zoom out" size="small" onPress={() => void zoomOut()}>
          <Minus size={15} />
        </IconButton>
        <IconButton label="Zoom in" size="small" onPress={() => void zoomIn()}>
          <Plus size={15} />
        </IconButton>
        <IconButton label="Show the whole flow" size="small" onPress={fit}>
          <Maximize size={14} />
        </IconButton>
      </Panel>
      {hasMap && <MiniMap className={style.map} pannable ariaLabel="Map of the flow" />}
    </>
  );
}
