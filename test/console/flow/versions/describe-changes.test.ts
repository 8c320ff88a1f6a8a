import assert from 'node:assert/strict';
import { describeChanges } from '../../../../console/flow/versions/compare-versions.ts';

describe('describeChanges', () => {
  it('shows short values before and after, and only the names of fields with long ones', () => {
    const changes = [
      { step_id: 'reply', field: 'model', from: 'demo/chat', to: 'openai/gpt-5' },
      { step_id: 'reply', field: 'prompt', from: 'a\nb', to: 'c' },
      { step_id: 'reply', field: 'processor_config', to: { max_tokens: 9, tools_enabled: true } },
      { step_id: 'reply', field: 'processor_type', from: 'code', to: 'llm' },
      { step_id: null, field: 'steps', from: ['a', 'reply'], to: ['reply'] },
    ];
    assert.deepEqual(describeChanges(changes), [
      {
        ...{ stepId: 'reply', kind: 'changed' },
        lines: [
          'model: demo/chat → openai/gpt-5',
          'prompt',
          'settings: none → token limit 9, tools on',
          'kind: Code → Model call',
        ],
      },
      { stepId: null, kind: 'changed', lines: ['order of the steps: a, reply → reply'] },
    ]);
  });

  it('says that a step was added or removed', () => {
    const changes = [
      { step_id: 'a', field: '', to: { name: 'A' } },
      { step_id: 'b', field: '', from: { name: 'B' } },
    ];
    assert.deepEqual(
      describeChanges(changes).map(({ stepId, kind }) => [stepId, kind]),
      [
        ['a', 'added'],
        ['b', 'removed'],
      ],
    );
  });
});
