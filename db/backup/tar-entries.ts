// Entries of a tar archive (POSIX ustar), so that any tar opens a backup. Written and read whole: entries are some megabytes.
const BLOCK_BYTES = 512;
const MODE = '0000600';
/** Maximum size of an entry in bytes: many times the usual size, to allow for one huge row. */
const ENTRY_MAX_BYTES = 1024 ** 3;
/** Fields of a header: where each begins, and how many bytes it has. */
const NAME = [0, 100] as const;
const SIZE = [124, 12] as const;
const CHECKSUM = [148, 8] as const;

export type TarEntry = { name: string; body: Buffer };

/** Two empty blocks end an archive. */
export const TAR_END = Buffer.alloc(2 * BLOCK_BYTES);

/** Makes the bytes of one entry: its header, its body, and zeros up to a whole block. */
export function tarEntry(name: string, body: Buffer, modified: Date): Buffer[] {
  const header = Buffer.alloc(BLOCK_BYTES);
  if (Buffer.byteLength(name) > NAME[1]) throw new Error(`The name ${name} is too long for an archive.`);
  header.write(name, NAME[0]);
  header.write(`${MODE}\0${'0000000'}\0${'0000000'}\0`, 100);
  header.write(`${body.length.toString(8).padStart(SIZE[1] - 1, '0')}\0`, SIZE[0]);
  const seconds = Math.floor(modified.getTime() / 1_000);
  header.write(`${seconds.toString(8).padStart(11, '0')}\0`, 136);
  header.write('0', 156);
  header.write('ustar\x0000', 257);
  header.write(`${checksumOf(header).toString(8).padStart(6, '0')}\0 `, CHECKSUM[0]);
  return [header, body, Buffer.alloc(paddingOf(body.length))];
}

/** Reads the entries of an archive one after the other. Throws an Error where the archive is damaged or ends early. */
export async function* readTarEntries(chunks: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const read = createReader(chunks);
  for (;;) {
    const header = await read(BLOCK_BYTES);
    if (header.every((byte) => byte === 0)) break;
    if (Number.parseInt(field(header, CHECKSUM), 8) !== checksumOf(header))
      throw new Error('it is not an archive of weir backup, or is damaged');
    const size = Number.parseInt(field(header, SIZE), 8);
    if (!(size >= 0 && size <= ENTRY_MAX_BYTES)) throw new Error('an entry of it has an impossible size');
    const body = await read(size);
    await read(paddingOf(size));
    yield { name: field(header, NAME), body };
  }
  // What is left is read too, so that the check at the end of the compressed bytes takes place.
  while (!(await read.rest.next()).done);
}

function createReader(chunks: AsyncIterable<Buffer>) {
  const rest = chunks[Symbol.asyncIterator]();
  let buffered: Buffer = Buffer.alloc(0);
  async function read(bytes: number): Promise<Buffer> {
    const parts = [buffered];
    let length = buffered.length;
    while (length < bytes) {
      const { value, done } = await rest.next();
      if (done) throw new Error('it ends before its end: it was cut off');
      parts.push(value);
      length += value.length;
    }
    const all = parts.length === 1 ? buffered : Buffer.concat(parts, length);
    buffered = all.subarray(bytes);
    return all.subarray(0, bytes);
  }
  return Object.assign(read, { rest });
}

function field(header: Buffer, [start, length]: readonly [number, number]): string {
  return header.toString('utf8', start, start + length).replace(/[\0 ].*$/s, '');
}

/** The sum of a header's bytes, those of the checksum itself counted as spaces. */
function checksumOf(header: Buffer): number {
  const [start, length] = CHECKSUM;
  return header.reduce(
    (sum, byte, index) => sum + (index >= start && index < start + length ? 0x20 : byte),
    0,
  );
}

function paddingOf(size: number): number {
  return (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES;
}
