import { completeSteps } from '../../api/flows/complete-steps.ts';
import { draftRequest } from '../../api/flows/schemas.ts';
import { canonicalJson } from '../../flow/canonical-json.ts';
import type { Json, Step } from '../../flow/definition.ts';

export type FlowContent = { name: string; slug: string; description?: string; steps: Step[] };

/** `parameters` and the model of a judge may be absent; the service fills them in. */
export type TestCase = {
  name: string;
  message: string;
  parameters?: { [name: string]: Json };
  expectation: { type: string; [field: string]: Json };
};

/** Tells whether a flow has the names and steps of another. */
export function isSameFlow(one: FlowContent, other: FlowContent): boolean {
  return canonicalJson(normalize(one)) === canonicalJson(normalize(other));
}

/** Fills in optional fields of a file, so that a draft made by an assistant equals the file made from it. */
export function normalize({ name, slug, description = '', steps }: FlowContent): FlowContent {
  const { data } = draftRequest.safeParse({ steps });
  return { name, slug, description, steps: data ? completeSteps(data.steps).steps : steps };
}

/** Tells whether two lists hold the same test cases. */
export function isSameTests(some: TestCase[], others: TestCase[]): boolean {
  const named = new Map(others.map((test) => [test.name, test]));
  return (
    some.length === others.length &&
    some.every((test) => {
      const other = named.get(test.name);
      return other !== undefined && isSameTest(test, other);
    })
  );
}

/** Tells whether two test cases are the same. The model of a judge counts where both name one. */
export function isSameTest(one: TestCase, other: TestCase): boolean {
  const keepModel = 'model' in one.expectation && 'model' in other.expectation;
  const text = ({ name, message, parameters = {}, expectation: { model, ...expectation } }: TestCase) =>
    canonicalJson({ name, message, parameters, expectation, ...(keepModel && { model }) });
  return text(one) === text(other);
}
