type Json = { [key: string]: unknown };

/** Reads the API document, and puts each of its components but schemas where endpoints refer to it. */
export async function readDocument<Document>(url: string): Promise<Document> {
  const document = await (await fetch(`${url}/openapi.json`)).json();
  const { components } = document as { components: { [kind: string]: Json } };
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (value === null || typeof value !== 'object') return value;
    const [, kind = '', name = ''] = COMPONENT.exec(String((value as Json).$ref)) ?? [];
    if (name !== '' && kind !== 'schemas') return resolve(components[kind]?.[name]);
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner)]));
  };
  return resolve(document) as Document;
}

const COMPONENT = /^#\/components\/(\w+)\/([^/]+)$/;
