/** The refusals of a connection for which DATABASE_URL has to be corrected, by SQLSTATE, as the end of "The database …". */
export const ADDRESS_REFUSALS: { [sqlState: string]: string } = {
  '28P01': 'refuses the password: correct DATABASE_URL (or PGPASSWORD)',
  '28000': 'refuses the user: correct DATABASE_URL, or let that user connect',
  '3D000': 'is not there by that name: correct DATABASE_URL',
};
