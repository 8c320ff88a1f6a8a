// Example requests and answers about flows in the API reference.
import { project } from './management-examples.ts';

const at = '2026-01-31T12:00:00.000Z';

export const newFlow = { name: 'Sort mail', slug: 'sort-mail', description: '' };
export const renaming = { name: 'Sort all mail' };
export const flow = {
  id: '8c1f6a7e-9d0f-4c3e-8a1e-2f8c1c3f7a44',
  projectId: project.id,
  ...newFlow,
  productionVersion: 2,
  latestVersion: 3,
  draftIsProduction: false,
  draftIsPublished: true,
  lastRun: {
    executionId: '5d7a0f0c-3a39-4c61-9a0a-0f8e4f2d8d13',
    status: 'completed',
    outcome: 'completed',
    startedAt: '2026-02-01T08:30:00.000Z',
  },
  createdAt: at,
  updatedAt: at,
};
export const flowPage = { flows: [flow], hasMore: false, nextCursor: null };

export const etag = '"LPJNul-wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ"';
const step = { type: 'sequential', name: 'Sort', processor_type: 'llm', prompt: 'Sort {{message}}.' };
export const newDraft = { steps: [{ ...step, model: 'openai/gpt-5-mini' }] };
export const draft = {
  steps: [{ step_id: 'sort', ...step }],
  problems: [
    { path: 'steps[0].model', message: 'A model block needs a model.', step_id: 'sort', field: 'model' },
  ],
  notes: [],
};

export const incomplete = {
  message: 'The draft is not complete.\nsteps[0].model: A model block needs a model.',
  problems: draft.problems,
};

export const publishing = { note: 'Sorts in one request.' };
const versionRow = {
  version: 3,
  ...publishing,
  isProduction: false,
  publishedAt: at,
  publishedBy: 'auth0|5f7c8ec7c33c6c004bbafe82',
};
export const version = { ...versionRow, steps: [{ step_id: 'sort', ...step, model: 'openai/gpt-5-mini' }] };
export const versionPage = { versions: [versionRow], hasMore: true, nextCursor: '3' };
export const difference = {
  changes: [
    { step_id: null, field: 'steps', from: ['read', 'sort'], to: ['sort'] },
    { step_id: 'sort', field: 'model', from: 'openai/gpt-5-mini', to: 'openai/gpt-5' },
    {
      step_id: 'read',
      field: '',
      from: { type: 'sequential', name: 'Read', processor_type: 'passthrough' },
    },
  ],
};
