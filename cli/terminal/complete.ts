// `weir __complete`: what may stand at the cursor, for the scripts of `weir completion`. Prints nothing when it fails.
import type { Argument, Command, Option } from 'commander';
import { callApi, listAll } from '../api/call-api.ts';
import { type Flow, getFlow, getMe, getProject, type ListedRun, runListPaths } from '../api/get-resource.ts';
import { flowsUrl, urlOf, type Version } from '../flows/service-flow.ts';

/** A person waits for it: candidates that come later are not shown. */
const ANSWER_MAX_MS = 2_000;
const RUNS_MAX = 20;

/** The command and the arguments before the word at the cursor. */
type Place = { command: Command; positionals: string[]; flow?: string; option?: Option };

/** Lists the candidates for the last of the words after `weir`. `load` declares the command of a name. */
export async function complete(
  words: string[],
  names: string[],
  load: (name: string) => Promise<Command>,
): Promise<string[]> {
  const late = new Promise<string[]>((resolve) => setTimeout(() => resolve([]), ANSWER_MAX_MS).unref());
  const found = await Promise.race([listCandidates(words, names, load), late]).catch(() => []);
  const current = words.at(-1) ?? '';
  return found.filter((candidate) => candidate.startsWith(current));
}

async function listCandidates(
  words: string[],
  names: string[],
  load: (name: string) => Promise<Command>,
): Promise<string[]> {
  const isHelp = words[0] === 'help' && words.length > 1;
  const [name = '', ...others] = isHelp ? words.slice(1) : words;
  if (others.length === 0) return name.startsWith('-') ? ['--help', '--version'] : names;
  const place = findPlace(await load(name), [name, ...others.slice(0, -1)]);
  const current = others.at(-1) ?? '';
  const { command, option } = place;
  if (!command.parent) return [];
  if (option) return valuesOf(option, place, current);
  if (current.startsWith('-')) return [...command.options.flatMap(({ long }) => long ?? []), '--help'];
  if (isHelp || command.commands.length > 0) return command.commands.map((child) => child.name());
  const declared = command.registeredArguments;
  const argument = declared[place.positionals.length] ?? declared.at(-1);
  const isOver = place.positionals.length >= declared.length && !argument?.variadic;
  return argument && !isOver ? valuesOf(argument, place, current) : [];
}

function findPlace(program: Command, words: string[]): Place {
  const place: Place = { command: program, positionals: [] };
  for (const word of words) {
    const { option } = place;
    if (option) {
      if (option.long === '--flow') place.flow = word;
      delete place.option;
    } else if (word.startsWith('-')) {
      const named = place.command.options.find(({ long, short }) => word === long || word === short);
      if (named && (named.required || named.optional)) place.option = named;
    } else {
      const child = place.command.commands.find((one) => one.name() === word || one.aliases().includes(word));
      if (child) place.command = child;
      else place.positionals.push(word);
    }
  }
  return place;
}

/** Lists the values of an option or argument: its choices, or what the service has of that kind. */
async function valuesOf(declared: Option | Argument, place: Place, current: string): Promise<string[]> {
  if (declared.argChoices) return [...declared.argChoices];
  const long = 'long' in declared ? declared.long : undefined;
  const form = 'flags' in declared ? (/<([^>]+)>/.exec(declared.flags)?.[1] ?? '') : declared.name();
  if (long === '--from' || long === '--to')
    return form === 'version' ? ['draft', ...(await versions(place))] : [];
  if (long === '--on-version') return ['original', 'production', ...(await versions(place))];
  if (long === '--version') return versions(place);
  if (long === '--flow' || form === 'org/project/flow' || form === 'flow') return paths(3, current);
  if (long === '--project' || form === 'org/project') return paths(2, current);
  if (long === '--organization' || form === 'org') return paths(1, current);
  if (form === 'path') return paths(3, current, true);
  return form === 'executionId' ? recentRuns() : [];
}

/** Lists paths of so many slugs; the beginnings of longer ones end in a slash, unless `each` may stand for itself. */
async function paths(slugs: 1 | 2 | 3, current: string, each = false): Promise<string[]> {
  const me = await getMe();
  if (me.kind === 'operator') return [];
  const owned =
    me.kind === 'api_key' ? [{ slug: me.organization.slug, projects: [me.project] }] : me.organizations;
  const organizations = owned.map(({ slug }) => slug);
  if (slugs === 1) return organizations;
  const projects = owned.flatMap(({ slug, projects }) =>
    projects.map((project) => `${slug}/${project.slug}`),
  );
  if (slugs === 2) return projects;
  const [organization, project, flow] = current.split('/');
  if (flow === undefined) return each ? [...organizations, ...projects] : projects.map((path) => `${path}/`);
  const { id } = await getProject(`${organization}/${project}`);
  const flows = await listAll<Flow>(flowsUrl(id), 'flows');
  return flows.map(({ slug }) => `${organization}/${project}/${slug}`);
}

/** Lists the versions of the flow that the command is about. */
async function versions({ positionals, flow = positionals.at(-1) }: Place): Promise<string[]> {
  if (flow === undefined) return [];
  const listed = await listAll<Version>(`${urlOf(await getFlow(flow))}/versions`, 'versions', { limit: 50 });
  return listed.map(({ version }) => String(version));
}

async function recentRuns(): Promise<string[]> {
  const lists = (await runListPaths()).map((path) =>
    callApi<{ runs: ListedRun[] }>('GET', path, { query: { limit: RUNS_MAX } }),
  );
  return (await Promise.all(lists)).flatMap(({ runs }) => runs.map(({ executionId }) => executionId));
}
