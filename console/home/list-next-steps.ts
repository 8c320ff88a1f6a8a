/** The facts that show which steps a newcomer has done. */
type ProjectFacts = {
  /** Whether the user opened a run from the list in this browser. */
  sawRun: boolean;
  flows: readonly { latestVersion: number | null; draftIsPublished: boolean }[];
  /** Whether a user, rather than a key, has started a run. */
  hasTried: boolean;
  /** Undefined for a member, who may not list or create keys. */
  keys: readonly { createdBy: string | null; lastUsedAt: string | null }[] | undefined;
  assistants: number;
};

export type NextStep = {
  id: 'run' | 'change' | 'try' | 'publish' | 'call' | 'assistant';
  title: string;
  text: string;
  isDone: boolean;
};

/** Lists the first steps of a newcomer in order, and which of them are done. */
export function listNextSteps({ sawRun, hasTried, flows, keys, assistants }: ProjectFacts): NextStep[] {
  const hasPublished = flows.filter(({ latestVersion }) => latestVersion !== null).length > 1;
  const isPublished = hasPublished || flows.some(({ latestVersion }) => (latestVersion ?? 0) > 1);
  const isChanged = isPublished || flows.length > 1 || flows.some((flow) => !flow.draftIsPublished);
  const steps: NextStep[] = [
    {
      id: 'run',
      title: 'Look at a run',
      text: 'See the input, output and cost of each block.',
      isDone: sawRun,
    },
    {
      id: 'change',
      title: 'Change the flow',
      text: 'Edit a prompt or add a block; the draft is saved as you go.',
      isDone: isChanged,
    },
    {
      id: 'try',
      title: 'Try it',
      text: 'Run the draft with a message of your own.',
      isDone: hasTried,
    },
    {
      id: 'publish',
      title: 'Publish it',
      text: 'Publish the draft as a version, and put it into production: callers run it from then on.',
      isDone: isPublished,
    },
    {
      id: 'call',
      title: 'Call it from your program',
      text: 'Make an API key and copy the request as curl, TypeScript or Python.',
      isDone: keys?.some(({ createdBy, lastUsedAt }) => createdBy !== null && lastUsedAt !== null) ?? false,
    },
    {
      id: 'assistant',
      title: 'Connect an assistant',
      text: 'It designs, tests and publishes flows over MCP, at this endpoint:',
      isDone: assistants > 0,
    },
  ];
  return keys === undefined ? steps.filter(({ id }) => id !== 'call') : steps;
}
