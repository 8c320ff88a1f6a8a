// A flow as the service has it, with the requests that read and change it.
import type { FileProblem } from '../../api/flows/file-problems.ts';
import type { Step } from '../../flow/definition.ts';
import { callApi, exchange, listAll } from '../api/call-api.ts';
import type { Flow } from '../api/get-resource.ts';
import type { FlowContent, TestCase } from './flow-content.ts';

/** A note about a draft, or about a version as it is published. */
export type Note = FileProblem;
export type Draft = { steps: Step[]; problems: FileProblem[]; notes: Note[] };
export type Version = {
  version: number;
  note: string;
  isProduction: boolean;
  publishedAt: string;
  /** Only of a version that has just been published. */
  notes?: Note[];
};
/** The ETag makes a write that sends it meet the same case, or be refused. */
export type SavedTestCase = TestCase & { test_case_id: string; etag: string };

/** Gets the path of a flow's endpoints, or of the list of a project's flows. */
export function flowsUrl(projectId: string, flowId?: string): string {
  return `/api/v1/projects/${projectId}/flows${flowId === undefined ? '' : `/${flowId}`}`;
}

/** Writes notes as lines that follow what they are about. */
export function formatNotes(notes: Note[]): string[] {
  return notes.map(
    ({ path, step_id, message }) => `  note: ${path}${step_id ? ` (${step_id})` : ''}: ${message}`,
  );
}

export function urlOf(flow: Flow): string {
  return flowsUrl(flow.projectId, flow.id);
}

/** Reads the draft; its ETag makes a later request that sends it meet the same draft, or be refused. */
export async function readDraft(flow: Flow): Promise<{ draft: Draft; content: FlowContent; etag: string }> {
  const { body: draft, headers } = await exchange<Draft>('GET', `${urlOf(flow)}/draft`);
  return { draft, content: contentOf(flow, draft.steps), etag: headers.get('etag') ?? '' };
}

/** Replaces the draft that has the ETag, or any for `*`. Throws PRECONDITION_FAILED when it is another by now. */
export function replaceDraft(flow: Flow, steps: Step[], etag: string): Promise<Draft> {
  const headers = { 'if-match': etag };
  return callApi<Draft>('PUT', `${urlOf(flow)}/draft`, { body: { steps }, headers });
}

/** Reads a version of the flow, or its draft. */
export async function readSide(flow: Flow, side: number | 'draft'): Promise<FlowContent> {
  if (side === 'draft') return (await readDraft(flow)).content;
  const { steps } = await callApi<{ steps: Step[] }>('GET', `${urlOf(flow)}/versions/${side}`);
  return contentOf(flow, steps);
}

function contentOf({ name, slug, description }: Flow, steps: Step[]): FlowContent {
  return { name, slug, ...(description !== '' && { description }), steps };
}

/** Reads every test case of the flow, by name. */
export async function readTestCases(flow: Flow): Promise<SavedTestCase[]> {
  const url = `${urlOf(flow)}/test-cases`;
  const listed = await listAll<{ test_case_id: string }>(url, 'test_cases');
  const cases: SavedTestCase[] = [];
  for (const { test_case_id } of listed) {
    const { body, headers } = await exchange<TestCase>('GET', `${url}/${test_case_id}`);
    const { name, message, parameters = {}, tools, tool_results, expectation } = body;
    const test = {
      name,
      message,
      parameters,
      ...(tools && { tools }),
      ...(tool_results && { tool_results }),
    };
    cases.push({ test_case_id, ...test, expectation, etag: headers.get('etag') ?? '' });
  }
  return cases;
}
