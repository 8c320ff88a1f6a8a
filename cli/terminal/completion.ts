// `weir completion`: a script with which a shell asks `weir __complete` for what may stand at the cursor.
import { Argument, type Command } from 'commander';

/** Completes `npx weir` too, where nothing else completes npx. A candidate that ends in a slash goes on. */
const BASH = `_weir_found() {
  local IFS=$'\\n'
  COMPREPLY=($("$@" 2>/dev/null))
  [[ "\${COMPREPLY[0]}" != */ ]] || compopt -o nospace 2>/dev/null
}
_weir() {
  _weir_found weir __complete "\${COMP_WORDS[@]:1:COMP_CWORD}"
}
_weir_npx() {
  [[ $COMP_CWORD -gt 1 && "\${COMP_WORDS[1]}" == weir ]] || return
  _weir_found npx --no weir __complete "\${COMP_WORDS[@]:2:COMP_CWORD-1}"
}
complete -o default -F _weir weir
complete -p npx >/dev/null 2>&1 || complete -o default -F _weir_npx npx
`;

const ZSH = `(( $+functions[compdef] )) || { autoload -U compinit && compinit }
_weir() {
  local -a found
  found=(\${(f)"$(weir __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  (( $#found )) || { _files; return }
  compadd -S '' -- \${(M)found:#*/}
  compadd -- \${found:#*/}
}
compdef _weir weir
`;

const FISH = `function __weir_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l found (weir __complete $words[2..] "$current" 2>/dev/null)
  if test (count $found) -eq 0
    __fish_complete_path "$current"
  else
    printf '%s\\n' $found
  end
end
complete -c weir -f -a '(__weir_complete)'
`;

const SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH };

export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description(
      'print a completion script for weir and, in bash, npx weir; source it in ~/.bashrc, ~/.zshrc or config.fish',
    )
    .addArgument(new Argument('<shell>', 'shell that reads the script').choices(Object.keys(SCRIPTS)))
    .addHelpText('after', '\nExample:\n  weir completion bash > ~/.weir.bash')
    .action((shell: keyof typeof SCRIPTS) => void process.stdout.write(SCRIPTS[shell]));
}
