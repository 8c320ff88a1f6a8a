/** Returns the JSON Pointer to a member of the value at `path`. */
export function extendPointer(path: string, key: string): string {
  return `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
