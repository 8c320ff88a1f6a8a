/** The words for the actions of the audit log. */
const ACTION_NAMES: Readonly<Record<string, string>> = {
  'api_key.create': 'Created an API key',
  'api_key.revoke': 'Revoked an API key',
  'assistant.disconnect': 'Disconnected an assistant',
  'bulk_retry.cancel': 'Cancelled a bulk retry',
  'credits.grant': 'Granted credits',
  'credits.update': 'Changed the low-balance mark',
  'flow.create': 'Created a flow',
  'flow.delete': 'Deleted a flow',
  'flow.edit': 'Changed a flow',
  'flow.publish': 'Published a version',
  'flow.set_production': 'Set the production version',
  'invitation.create': 'Invited a member',
  'invitation.revoke': 'Revoked an invitation',
  'member.add': 'Added a member',
  'member.remove': 'Removed a member',
  'member.update': 'Changed a role',
  'model_key.delete': 'Deleted a model key',
  'model_key.set': 'Set a model key',
  'organization.create': 'Created the organization',
  'organization.delete': 'Deleted the organization',
  'organization.resume': 'Resumed the organization',
  'organization.set_quota': 'Set limits',
  'organization.suspend': 'Suspended the organization',
  'organization.update': 'Changed the organization',
  'project.create': 'Created a project',
  'project.delete': 'Deleted a project',
  'project.update': 'Changed a project',
  'run.cancel': 'Cancelled a run',
  'run.start': 'Started a run',
  'runs.cancel': 'Cancelled runs',
  'runs.retry': 'Retried runs',
  'test_case.create': 'Created a test case',
  'test_case.delete': 'Deleted a test case',
  'test_case.replace': 'Changed a test case',
  'test_run.cancel': 'Cancelled a test run',
  'test_run.start': 'Started a test run',
  'webhook_delivery.recover': 'Recovered deliveries',
  'webhook_delivery.redeliver': 'Sent a delivery again',
  'webhook_delivery.test': 'Sent a test event',
  'webhook_secret.create': 'Created the webhook secret',
  'webhook_secret.rotate': 'Rotated the webhook secret',
};

/** The option for every action. */
export const ANY = 'any';

/** Returns the words for an action; the action itself when it has none. */
export function actionName(action: string): string {
  return ACTION_NAMES[action] ?? action;
}

/** Lists the actions to filter by, by their words. `chosen` is listed even if it has none. */
export function actionOptions(chosen: string | undefined): { id: string; label: string }[] {
  const known = Object.entries(ACTION_NAMES).map(([id, label]) => ({ id, label }));
  if (chosen !== undefined && ACTION_NAMES[chosen] === undefined) known.push({ id: chosen, label: chosen });
  return [{ id: ANY, label: 'Any action' }, ...known.sort((a, b) => a.label.localeCompare(b.label))];
}
