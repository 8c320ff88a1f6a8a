import pg from 'pg';

/** Lets the next commit of this process happen, and loses its answer. */
export function loseNextCommit(): void {
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = async function (this: pg.Client, ...args: unknown[]) {
    const answer = await Reflect.apply(query, this, args);
    if (args[0] !== 'commit') return answer;
    pg.Client.prototype.query = query;
    const lost = new Error('Connection terminated unexpectedly');
    this.emit('error', lost);
    throw lost;
  } as typeof query;
}
