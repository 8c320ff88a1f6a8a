// Keeps the API document small: what several endpoints have in common stands in it once, among its components.
import { STATUS_CODES } from 'node:http';

type Named<T> = { [name: string]: T };
type Content = Named<{ schema: { $ref?: string }; examples?: Named<object> }>;
type Response = { headers?: Named<object>; content?: Content };
type Body = { content?: Content };
type Operation = {
  operationId: string;
  responses: Named<Response>;
  requestBody?: Body;
  parameters?: object[];
};
type Document = {
  paths: Named<Named<Operation>>;
  webhooks: Named<Named<Operation>>;
  components: Named<Named<object>> & { responses?: Named<Response>; requestBodies?: Named<Body> };
};

type Kind = 'responses' | 'requestBodies' | 'parameters' | 'headers' | 'examples';
/** An object as `at[key]`, in an operation or a component with the name `owner`. */
type Place = { at: Named<object>; key: string; owner: string };

/** In this order, because an object that moves takes with it the objects inside. */
const KINDS: Kind[] = ['responses', 'requestBodies', 'parameters', 'headers', 'examples'];

/**
 * Moves each response, request body, parameter, header and example that occurs more than once in an OpenAPI document to its
 * components. Changes the document.
 */
export function shareRepeated(document: object): void {
  const { paths, webhooks, components } = document as Document;
  const operations = [...Object.values(paths), ...Object.values(webhooks)].flatMap((item) =>
    Object.values(item),
  );
  for (const kind of KINDS) {
    components[kind] ??= {};
    const shared = components[kind];
    const inline = findPlaces(operations, components)[kind].filter(
      ({ at, key }) => !('$ref' in (at[key] ?? {})),
    );
    for (const places of Map.groupBy(inline, ({ at, key }) => JSON.stringify(at[key])).values()) {
      const [first] = places;
      const value = first?.at[first.key];
      if (!first || !value || places.length === 1) continue;
      const name = nameOf(kind, value, first);
      const free = name in shared ? `${name}.${first.owner}` : name;
      if (free in shared) throw new Error(`Two ${kind} of the API document would have the name ${free}.`);
      shared[free] = value;
      for (const { at, key } of places) at[key] = { $ref: `#/components/${kind}/${free}` };
    }
  }
}

/** Names an object after itself or its schema, or else after the operation and the status, such as `ExecuteConflict`. */
function nameOf(kind: Kind, value: object, { key, owner }: Place): string {
  if (kind === 'parameters') return (value as { name: string }).name;
  if (kind === 'headers' || kind === 'examples') return key;
  const [content] = Object.values((value as Body).content ?? {});
  const schema = content?.schema.$ref?.split('/').at(-1);
  if (schema !== undefined && schema !== 'Error') return schema;
  const status = (STATUS_CODES[key] ?? key).replaceAll(' ', '');
  return key === '304' ? status : owner.charAt(0).toUpperCase() + owner.slice(1) + status;
}

function findPlaces(operations: Operation[], components: Document['components']) {
  const places: { [kind in Kind]: Place[] } = {
    responses: [],
    requestBodies: [],
    parameters: [],
    headers: [],
    examples: [],
  };
  const add = (kind: Kind, owner: string, at: object = {}) => {
    for (const key of Object.keys(at)) places[kind].push({ at: at as Named<object>, key, owner });
  };
  const addContent = (owner: string, content: Content = {}) => {
    for (const { examples } of Object.values(content)) add('examples', owner, examples);
  };
  const addResponses = (responses: Named<Response>, ownerOf: (name: string) => string) => {
    for (const [name, { headers, content }] of Object.entries(responses)) {
      add('headers', ownerOf(name), headers);
      addContent(ownerOf(name), content);
    }
  };
  addResponses(components.responses ?? {}, (name) => name);
  for (const [name, { content }] of Object.entries(components.requestBodies ?? {})) addContent(name, content);
  for (const operation of operations) {
    const { operationId: owner, responses, requestBody, parameters } = operation;
    add('responses', owner, responses);
    addResponses(responses, () => owner);
    if (requestBody)
      places.requestBodies.push({ at: operation as unknown as Named<object>, key: 'requestBody', owner });
    addContent(owner, requestBody?.content);
    add('parameters', owner, parameters);
  }
  return places;
}
