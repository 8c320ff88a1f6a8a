import { Download } from 'lucide-react';
import { useMemo } from 'react';
import { Button } from '../../ui/button.tsx';
import { CodeEditor } from '../../ui/code-editor/code-editor.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Panel, Row } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { saveFile } from '../../ui/save-file.ts';
import type { Step } from '../draft/steps.ts';
import { useFlow } from '../flow-context.ts';
import { toFlowFile, useYaml } from './use-flow-text.ts';

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
