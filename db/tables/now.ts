import type { ColumnType } from 'kysely';

/** A time that defaults to the database's time at the insert. */
export type Now = ColumnType<Date, Date | undefined, Date>;
