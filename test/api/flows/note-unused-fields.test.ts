// Fields without effect are named, and the flow is accepted all the same.
import assert from 'node:assert/strict';
import { noteUnusedFields } from '../../../api/flows/draft-notes.ts';
import { parseFlowFile } from '../../../api/flows/flow-file.ts';
import { yaml } from './flow-file-fixture.ts';

describe('noteUnusedFields', () => {
  it('names what a passthrough or code block has in vain, also inside other steps', () => {
    const file = parseFlowFile(
      yaml(`  - { step_id: pass, processor_type: passthrough, prompt: x, model: demo/chat, inputSchema: true }
  - type: loop
    body:
      - step_id: code
        processor_type: code
        prompt: return 1
        model: demo/chat
        processor_config: { timeout_ms: 100, temperature: 1, max_tokens: 5, system: x }
  - { processor_type: llm, model: demo/chat, prompt: x, processor_config: { temperature: 1 } }
  - { processor_type: code, prompt: return 1, processor_config: { timeout_ms: 100 } }
`),
      'yaml',
    );
    assert.deepEqual(noteUnusedFields(file), [
      { path: ['steps', 0], message: 'Without effect in a passthrough block: model, prompt.' },
      {
        path: ['steps', 1, 'body', 0],
        message:
          'Without effect in a code block: model, processor_config.temperature, processor_config.max_tokens, processor_config.system.',
      },
    ]);
  });

  it('names the cap of iterations in a block that calls no tools', () => {
    const notesWith = (config: string) =>
      noteUnusedFields(
        parseFlowFile(
          yaml(`  - { processor_type: llm, model: demo/chat, prompt: x, processor_config: { ${config} } }\n`),
          'yaml',
        ),
      );
    assert.deepEqual(notesWith('max_tool_iterations: 3'), [
      {
        path: ['steps', 0, 'processor_config', 'max_tool_iterations'],
        message: 'Without effect in a block without tools_enabled.',
      },
    ]);
    assert.deepEqual(notesWith('max_tool_iterations: 3, tools_enabled: true'), []);
  });
});
