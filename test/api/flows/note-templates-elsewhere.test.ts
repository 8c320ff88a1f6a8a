import assert from 'node:assert/strict';
import { noteTemplatesElsewhere } from '../../../api/flows/draft-notes.ts';
import { code, llm } from '../../blocks.ts';

describe('noteTemplatesElsewhere', () => {
  const noted = (...steps: Parameters<typeof noteTemplatesElsewhere>[0]['steps']) =>
    noteTemplatesElsewhere({ steps }).map(({ path }) => path.join('.'));

  it('names each field that uses a variable as it stands', () => {
    const messages = [{ role: 'user' as const, content: 'Of {{message}}' }];
    const processor_config = { system: 'For {{message}}', stop: ['{{ previous_output }}'], messages };
    const outputSchema = { type: 'string', description: 'Of {{parameters.tone}}' };
    const block = llm('ask', '{{message}}', 'demo/chat', { processor_config, outputSchema });
    assert.deepEqual(noted(block, code('work', "return '{{steps.ask}}';")), [
      'steps.0.processor_config.system',
      'steps.0.processor_config.stop',
      'steps.0.processor_config.messages',
      'steps.0.outputSchema',
      'steps.1.prompt',
    ]);
  });

  it('says nothing of other braces', () => {
    const processor_config = { system: String.raw`{{ customer }} \{{message}}` };
    assert.deepEqual(noted(llm('ask', '{{message}}', 'demo/chat', { processor_config })), []);
  });
});
