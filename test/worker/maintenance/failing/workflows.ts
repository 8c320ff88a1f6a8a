/** Stands in for a release whose workflow code does not fit runs under way. */
export async function runFlow(): Promise<void> {
  throw new Error('This release does not fit.');
}
