/** The roles that the API can give; owners are created by the operator. */
export const ROLE_OPTIONS = [
  { id: 'member', label: 'Member', description: 'Creates, edits, runs and publishes flows.' },
  {
    id: 'admin',
    label: 'Admin',
    description: 'Also manages members, projects, keys and webhook secrets, and deletes flows.',
  },
] as const;
