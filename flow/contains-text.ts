/**
 * Whether `text` contains `part`. The time grows with the sum of their lengths: `includes` compares them character by character
 * at each place where a part such as `baaa…` nearly fits, which took minutes for texts that both belong to a tenant.
 */
export function containsText(text: string, part: string): boolean {
  // Knuth, Morris and Pratt: `borders[n]` is the longest beginning of the part that its first `n` characters end with.
  const borders = new Int32Array(part.length + 1);
  for (let index = 1, length = 0; index < part.length; index += 1) {
    length = extend(part, borders, length, part.charCodeAt(index));
    borders[index + 1] = length;
  }
  let length = 0;
  for (let index = 0; index < text.length && length < part.length; index += 1)
    length = extend(part, borders, length, text.charCodeAt(index));
  return length === part.length;
}

/** Returns how long a beginning of the part fits once one more character came after one of `length`. */
function extend(part: string, borders: Int32Array, length: number, character: number): number {
  let fits = length;
  while (fits > 0 && part.charCodeAt(fits) !== character) fits = borders[fits] as number;
  return part.charCodeAt(fits) === character ? fits + 1 : fits;
}
