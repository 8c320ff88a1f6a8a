/** The scopes of API keys, as the documentation describes them. */
export const SCOPE_OPTIONS = [
  { id: 'run', label: 'Run', text: 'start, resume, repeat and cancel runs, and read them' },
  {
    id: 'read',
    label: 'Read',
    text: 'read runs, flows, versions, tests, usage and deliveries of the project',
  },
  { id: 'deploy', label: 'Deploy', text: 'change, test and publish flows' },
  { id: 'webhooks', label: 'Webhooks', text: 'administer the organization’s webhooks, its secret included' },
] as const;
export type Scope = (typeof SCOPE_OPTIONS)[number]['id'];
