// A DNS server on loopback that answers A and AAAA queries from a table.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** Response codes of RFC 1035. */
export const SERVFAIL = 2;
const NXDOMAIN = 3;
const TYPE_A = 1;
const QUESTION_AT = 12;

/** The addresses of a name (four or sixteen bytes each), a response code instead, or no answer at all. */
type DnsAnswer = number[][] | number | 'silence';
type DnsTable = { [name: string]: { a: DnsAnswer; aaaa: DnsAnswer } };

/** Starts the server; other names do not exist. `address` has the form that a resolver's `setServers` takes. */
export async function startFakeDnsServer(table: DnsTable) {
  const socket = createSocket('udp4', (query, { port }) => {
    const { name, type, end } = readQuestion(query);
    const answer = table[name]?.[type === TYPE_A ? 'a' : 'aaaa'] ?? NXDOMAIN;
    if (answer === 'silence') return;
    const addresses = typeof answer === 'number' ? [] : answer;
    const header = Buffer.alloc(QUESTION_AT);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | (typeof answer === 'number' ? answer : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(addresses.length, 6);
    // Each record: a pointer to the question's name, type, class IN, a lifetime of 0, the address.
    const records = addresses.map((bytes) =>
      Buffer.from([0xc0, QUESTION_AT, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes]),
    );
    socket.send(Buffer.concat([header, query.subarray(QUESTION_AT, end), ...records]), port, '127.0.0.1');
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { address: `127.0.0.1:${socket.address().port}`, close: () => socket.close() };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = QUESTION_AT;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}
