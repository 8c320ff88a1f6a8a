import pg from 'pg';

/** Time limit of a cancel request: the database is silent, or too busy to accept it. */
const CANCEL_TIMEOUT_MS = 5_000;

/** The parts of an open connection that the type definitions of `pg` lack. */
type Opened = pg.Client & { processID: number; secretKey: number; sslNegotiation: string };
type Raw = pg.Connection & {
  connect(port: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
};

/**
 * Asks PostgreSQL to cancel the statement of `client`, over a new connection with the same TLS settings. Resolves
 * once the request is taken, at most after 5 s, and never rejects. Keep `client` open until then, because a pooler
 * forwards the request to the server that works for `client` at that moment. Do not use `client` again: the request
 * could hit its next statement.
 */
export function cancelStatement(client: pg.Client): Promise<void> {
  const { host, port, ssl, sslNegotiation, processID, secretKey } = client as Opened;
  const connection = new pg.Connection({ ssl, sslNegotiation } as pg.ConnectionConfig) as Raw;
  const cancel = () => connection.cancel(processID, secretKey);
  return new Promise((resolve) => {
    const giveUp = () => void connection.stream.destroy();
    const timer = setTimeout(giveUp, CANCEL_TIMEOUT_MS);
    connection.on('error', giveUp);
    // PostgreSQL responds by closing the connection.
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
