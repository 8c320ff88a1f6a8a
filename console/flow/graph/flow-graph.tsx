import { lazy, memo, Suspense } from 'react';
import { Loading } from '../../ui/feedback.tsx';
import style from './graph.module.css';
import type { FlowGraphProps } from './graph-props.ts';

const GraphCanvas = lazy(() => import('./graph-canvas.tsx'));

/** Draws a tree of steps that fills its container. Keyboard users can walk through it. */
export const FlowGraph = memo(function FlowGraph(props: FlowGraphProps) {
  return (
    <div className={style.graph}>
      <Suspense fallback={<Loading />}>
        <GraphCanvas {...props} />
      </Suspense>
    </div>
  );
});
