/** Runs the draft or a version, and shows what comes of it. */
export function TryPanel() {
  return <h2>Try it</h2>;
}
