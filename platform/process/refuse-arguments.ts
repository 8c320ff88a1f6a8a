/** Throws when this program was started with arguments: it takes none and would ignore them. */
export function refuseArguments(): void {
  const [argument] = process.argv.slice(2);
  if (argument === undefined) return;
  throw new Error(
    `Unknown argument ${JSON.stringify(argument)}: this program takes none. Its settings are environment variables, which` +
      ' docs/reference.md lists.',
  );
}
