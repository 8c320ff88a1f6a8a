import { type Document, isMap, isScalar, isSeq } from 'yaml';
import type { PathSegment } from '../../flow/step-path.ts';

/** Returns the offset of the deepest part of a path that is in the file; in a map, the offset of its key. */
export function offsetOf(document: Document, path: PathSegment[]): number {
  let node: unknown = document.contents;
  let offset = 0;
  for (const segment of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(segment));
      if (!pair || !isScalar(pair.key)) break;
      offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node) && node.items[Number(segment)] !== undefined) {
      node = node.items[Number(segment)];
      offset = (node as { range?: [number, number, number] }).range?.[0] ?? offset;
    } else break;
  }
  return offset;
}
