"""Completions for bash, zsh and fish, from the command line."""

import shlex

_BASH = """\
# Completion of fenceline(1) for bash. Made from the command line of fenceline: do not edit.

_fenceline() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD - 1]}"
  # `=` is a word of its own in COMP_WORDS.
  if [[ "$current" == "=" ]]; then
    current=""
  elif [[ "$previous" == "=" ]]; then
    previous="${COMP_WORDS[COMP_CWORD - 2]}"
  fi

  local command="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command ${COMP_WORDS[i]}" in
@WALK@
    esac
  done

  local values="" words="" files=""
  case "$command $previous" in
@VALUES@
    *)
      case "$command" in
@WORDS@
      esac
      ;;
  esac
  [[ "$current" == -* ]] && files=""

  COMPREPLY=()
  local reply
  while IFS="" read -r reply; do
    COMPREPLY+=("$reply")
  done < <(
    compgen -W "$values $words" -- "$current" || true
    [[ -z "$files" ]] || compgen -f -- "$current" || true
  )
  # Fails where no completion runs, such as in a test.
  [[ -z "$files" ]] || compopt -o filenames 2>/dev/null || true
}

complete -F _fenceline fenceline
"""


def bash(root):
    walk, values, words = [], [], []
    for command in root.walk():
        key = " ".join(command.path)
        if command.path:
            walk.append(f'      "{" ".join(command.path[:-1])} {command.path[-1]}") '
                        f'command="{key}" ;;')
        for option in command.flags:
            if option.value:
                pattern = " | ".join(f'"{key} {name}"' for name in option.names)
                effect = (f'values="{" ".join(option.choices)}"' if option.choices
                          else "files=yes" if option.is_file else ":")
                values.append(f"    {pattern}) {effect} ;;")
        offered = [*(sub.path[-1] for sub in command.commands),
                   *(name for option in command.flags for name in option.names)]
        files = " files=yes" if any(o.is_file for o in command.positionals) else ""
        words.append(f'        "{key}") words="{" ".join(offered)}"{files} ;;')
    return (_BASH.replace("@WALK@", "\n".join(walk)).replace("@VALUES@", "\n".join(values))
            .replace("@WORDS@", "\n".join(words)))


def _zsh_quoted(text):
    """For inside '…' and […]."""
    return text.replace("'", "'\\''").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def _zsh_value(option):
    label = _zsh_quoted(option.value.lower())
    action = (f"({' '.join(option.choices)})" if option.choices
              else "_files" if option.is_file else " ")
    return f":{label}:{action}"


def _zsh_function(command):
    name = "_" + "_".join(("fenceline", *command.path))
    arguments = []
    for option in command.flags:
        text = _zsh_quoted(option.description)
        value = _zsh_value(option) if option.value else ""
        for spelling in option.names:
            others = " ".join(option.names)
            equals = "=" if option.value and spelling.startswith("--") else ""
            arguments.append(f"'({others}){spelling}{equals}[{text}]{value}'")
    lines = [f"{name}() {{"]
    if command.commands:
        lines += ["  local curcontext=$curcontext state line", "  typeset -A opt_args",
                  "  local -a commands=("]
        lines += [f"    '{sub.path[-1]}:{_zsh_quoted(sub.description)}'"
                  for sub in command.commands]
        lines.append("  )")
        arguments += ["'1: :->command'", "'*:: :->rest'"]
    else:
        arguments += [f"'{i}{_zsh_value(option)}'"
                      for i, option in enumerate(command.positionals, 1)]
    start = "  _arguments -C" if command.commands else "  _arguments"
    lines.append(" \\\n    ".join([start, *arguments]))
    if command.commands:
        lines += ["  case $state in",
                  f"    command) _describe -t commands '{command.name} command' commands ;;",
                  "    rest)", "      case $line[1] in"]
        lines += [f"        {sub.path[-1]}) {name}_{sub.path[-1]} ;;" for sub in command.commands]
        lines += ["      esac", "      ;;", "  esac"]
    return "\n".join([*lines, "}"])


def zsh(root):
    functions = "\n\n".join(_zsh_function(command) for command in root.walk())
    return ("#compdef fenceline\n"
            "# Completion of fenceline(1) for zsh. Made from the command line of fenceline: do not "
            f'edit.\n\n{functions}\n\n_fenceline "$@"\n')


def fish(root):
    lines = ["# Completion of fenceline(1) for fish. Made from the command line of fenceline: do "
             "not edit.", "", "complete -c fenceline -f"]
    for command in root.walk():
        seen = [f"__fish_seen_subcommand_from {word}" for word in command.path]
        below = " ".join(sub.path[-1] for sub in command.commands)
        if below:
            seen.append(f"not __fish_seen_subcommand_from {below}")
        start = f"complete -c fenceline -n {shlex.quote('; and '.join(seen))}"
        lines += [f"{start} -a {sub.path[-1]} -d {shlex.quote(sub.description)}"
                  for sub in command.commands]
        for option in command.flags:
            words = [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                     for name in option.names]
            if option.value:
                words.append("-r -F" if option.is_file else "-x")
            if option.choices:
                words.append(f"-a {shlex.quote(' '.join(option.choices))}")
            lines.append(f"{start} {' '.join(words)} -d {shlex.quote(option.description)}")
        if any(option.is_file for option in command.positionals):
            lines.append(f"{start} -F")
    return "\n".join(lines) + "\n"
