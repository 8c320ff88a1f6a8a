// `weir flow check`: checks flow files as the service does when a flow is pushed and published, without a service.
import { describeFileProblems, type FileProblem } from '../../api/flows/file-problems.ts';
import type { CommandResult } from '../terminal/print.ts';
import { inspectFlowFiles } from './flow-files.ts';
import { formatNotes } from './service-flow.ts';

type Checked = {
  file: string;
  /** Absent where the file is no flow file, so that it cannot be pushed. */
  flow?: string;
  problems: FileProblem[];
  notes: FileProblem[];
};

/** Checks flow files, and those in folders. The exit code is 1 unless each of them can be published. */
export async function check(sources: string[]): Promise<CommandResult> {
  const { flows, refused } = await inspectFlowFiles(sources);
  const isRefused = (file: string) => refused.some((one) => one.file === file);
  const checked: Checked[] = [
    ...refused.map(({ file, problems }) => ({ file, problems, notes: [] })),
    ...flows
      .filter(({ file }) => !isRefused(file))
      .map(({ file, flow, missing, notes }) => ({ file, flow: flow.slug, problems: missing, notes })),
  ].sort((a, b) => (a.file < b.file ? -1 : 1));
  if (checked.some(({ problems }) => problems.length > 0)) process.exitCode = 1;
  return { json: checked, text: checked.flatMap(describe).join('\n') };
}

function describe({ file, flow, problems, notes }: Checked): string[] {
  if (problems.length === 0) return [`${file} can be published.`, ...formatNotes(notes)];
  const { message } = describeFileProblems('INVALID_TREE', problems);
  const what = flow === undefined ? 'cannot be pushed' : 'can be pushed, but neither published nor tested';
  return [`${file} ${what}:`, message.replace(/^/gm, '  '), ...formatNotes(notes)];
}
