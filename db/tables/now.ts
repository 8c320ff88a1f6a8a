import type { ColumnType } from 'kysely';

/** A time that is the database's own at the insert, unless it is given. */
export type Now = ColumnType<Date, Date | undefined, Date>;
