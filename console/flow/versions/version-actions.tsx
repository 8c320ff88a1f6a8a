import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { showToast } from '../../ui/toast.tsx';
import { useDraft } from '../draft/draft-context.ts';
import type { Step } from '../draft/steps.ts';
import { useFlow } from '../flow-context.ts';
import { ProductionDialog } from './production-dialog.tsx';

/** The buttons that put a version into production or restore it into the draft. */
export function VersionActions({ version, steps }: { version: number; steps: Step[] | undefined }) {
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
