// main of npm's `pre…` scripts: ends with 1, and one line, unless the packages of package.json are there in its versions, as they
// are not after `git pull` without `npm ci`. Arguments name lists of package.json to look at besides `dependencies`.
import { readFileSync } from 'node:fs';

const root = new URL('../../', import.meta.url);
const read = (file) => JSON.parse(readFileSync(new URL(file, root), 'utf8'));

function installedVersion(name) {
  try {
    return read(`node_modules/${name}/package.json`).version;
  } catch {
    return undefined;
  }
}

const lists = read('package.json');
const wanted = ['dependencies', ...process.argv.slice(2)].flatMap((list) => Object.entries(lists[list]));
const missing = wanted.find(([name, version]) => installedVersion(name) !== version);
if (missing) {
  process.stderr.write(`A package is missing, or of another version: ${missing.join(' ')}. Run npm ci.\n`);
  process.exitCode = 1;
}
