import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useMemo } from 'react';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/code-block.tsx';
import { CodeEditor, NOT_LOADED_ADVICE } from '../../ui/code-editor/code-editor.tsx';
import { QueryView } from '../../ui/feedback.tsx';
import { Panel, Row } from '../../ui/page.tsx';
import { saveFile } from '../../ui/save-file.ts';
import type { Step } from '../draft/steps.ts';
import { useFlow } from '../flow-context.ts';

/** The flow file of these steps, as `weir flow pull` writes it, to read, copy and download. */
export function FlowFilePanel({ name, steps }: { name: string; steps: Step[] }) {
  const { flow } = useFlow();
  const yaml = useYaml();
  const text = useMemo(() => yaml.data?.write(toFlowFile(flow, steps)), [yaml.data, flow, steps]);
  return (
    <Panel
      title="Flow file"
      actions={
        text !== undefined && (
          <Row>
            <CopyButton text={text} label="Copy the flow file" />
            <Button size="small" onPress={() => saveFile(new Blob([text], { type: 'text/yaml' }), name)}>
              <Download size={14} aria-hidden /> Download {name}
            </Button>
          </Row>
        )
      }
    >
      <QueryView query={yaml}>
        {() => <CodeEditor label="Flow file" hideLabel language="text" value={text ?? ''} lines={[3, 40]} />}
      </QueryView>
    </Panel>
  );
}

/** Loads the YAML package, and returns a function that writes values as in flow files. */
export function useYaml() {
  return useQuery({
    queryKey: ['yaml'],
    queryFn: async () => {
      const { stringify } = await import('yaml').catch(() => {
        throw new Error(`What writes YAML could not be loaded. ${NOT_LOADED_ADVICE}`);
      });
      return { write: (value: object) => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false }) };
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Builds a flow file, as `weir flow pull` writes it. */
export function toFlowFile(
  { name, slug, description }: { name: string; slug: string; description: string },
  steps: Step[],
): object {
  return { name, slug, ...(description !== '' && { description }), steps };
}
