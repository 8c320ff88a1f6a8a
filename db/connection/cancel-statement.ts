import pg from 'pg';

/** Requests that are not taken within this time are given up: the database is silent, or too busy to let anyone in. */
const CANCEL_TIMEOUT_MS = 5_000;

/** The parts of an open connection that the type definitions of `pg` leave out. */
type Opened = pg.Client & { processID: number; secretKey: number; sslNegotiation: string };
type Raw = pg.Connection & {
  connect(port: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
};

/**
 * Asks PostgreSQL to end the statement that `client` waits for, on a connection of its own with the same TLS. Resolves once
 * the request is taken, after 5 s at the latest, and never rejects. `client` stays open until then: a pooler passes the request
 * on to the server that works for `client` at that moment. It is not used again, or another statement could be hit.
 */
export function cancelStatement(client: pg.Client): Promise<void> {
  const { host, port, ssl, sslNegotiation, processID, secretKey } = client as Opened;
  const connection = new pg.Connection({ ssl, sslNegotiation } as pg.ConnectionConfig) as Raw;
  const cancel = () => connection.cancel(processID, secretKey);
  return new Promise((resolve) => {
    const giveUp = () => void connection.stream.destroy();
    const timer = setTimeout(giveUp, CANCEL_TIMEOUT_MS);
    connection.on('error', giveUp);
    // PostgreSQL answers by closing the connection.
    connection.once('end', () => {
      clearTimeout(timer);
      resolve();
    });
    if (!ssl) connection.once('connect', cancel);
    else if (sslNegotiation !== 'direct') connection.once('connect', () => connection.requestSsl());
    connection.once('sslconnect', cancel);
    if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
    else connection.connect(port, host);
  });
}
