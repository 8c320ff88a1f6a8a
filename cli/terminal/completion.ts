// `weir completion`: a script with which a shell completes the names of commands and options.
import { Argument, type Command } from 'commander';

export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description(
      'print a completion script for weir and, in bash, npx weir; source it in ~/.bashrc or ~/.zshrc',
    )
    .addArgument(new Argument('<shell>', 'shell that reads the script').choices(['bash', 'zsh']))
    .addHelpText('after', '\nExample:\n  weir completion bash > ~/.weir.bash')
    .action((shell: 'bash' | 'zsh') => void process.stdout.write(completionScript(program, shell)));
}

/** Completes `npx weir` too, where nothing else completes npx. */
const NPX = `_weir_npx() {
  [[ $COMP_CWORD -gt 1 && "\${COMP_WORDS[1]}" == weir ]] || return
  COMP_WORDS=("\${COMP_WORDS[@]:1}")
  COMP_CWORD=$((COMP_CWORD - 1))
  _weir
}
complete -p npx >/dev/null 2>&1 || complete -o default -F _weir_npx npx
`;

/** Writes a bash script that knows every command and option of `program`; zsh reads it through its own bash mode. */
function completionScript(program: Command, shell: 'bash' | 'zsh'): string {
  const places = listPlaces(program, '');
  const known = places.flatMap(({ path }) => (path === '' ? [] : [`'${path}'`]));
  const words = places.map(({ path, words }) => `    '${path}') words='${words.join(' ')}' ;;`);
  return `${shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_weir() {
  local place='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$place $word" in
    ${known.join('|')}) place="$place $word" ;;
    esac
  done
  case "$place" in
${words.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _weir weir
${shell === 'bash' ? NPX : ''}`;
}

type CommandPlace = { path: string; words: string[] };

/** Lists what may follow each command; a path has a space before each of its names. */
function listPlaces(command: Command, path: string): CommandPlace[] {
  const children = command.commands.map((child) => child.name());
  const options = command.options.flatMap(({ long }) => (long ? [long] : []));
  return [
    { path, words: [...children, ...options, '--help'] },
    ...command.commands.flatMap((child) => listPlaces(child, `${path} ${child.name()}`)),
  ];
}
