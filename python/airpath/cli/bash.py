"""Completion script for bash.

Bash also splits words at ``=`` and ``:`` (`COMP_WORDBREAKS`), completes only the
part after the last of these, and puts a space after a complete word. So the script joins adjacent
words of the line, removes the part that bash keeps, and omits the space where a value or a key
continues.
"""

from __future__ import annotations

from typer import _completion_shared

__all__ = ["SCRIPT", "use_own_script"]

SCRIPT = r"""
%(complete_func)s() {
    local index word rest=$COMP_LINE current=-1 option= offered
    local -a words=()
    for ((index = 0; index <= COMP_CWORD; index++)); do
        word=${COMP_WORDS[index]}
        if ((index)) && [[ -n $word && $rest == "$word"* ]]; then
            words[current]+=$word
        else
            words[++current]=$word
            rest=${rest#"${rest%%%%[![:space:]]*}"}
        fi
        rest=${rest#"$word"}
    done
    word=${words[current]}
    [[ $word == --*=* ]] && option=${word%%%%=*}=
    COMPREPLY=()
    while IFS= read -r offered; do
        [[ -n $offered ]] || continue
        [[ $offered == "$option"* ]] || offered=$option$offered
        COMPREPLY+=("${offered#"${word%%"$2"}"}")
    done <<< "$(IFS=$'\n'; env COMP_WORDS="${words[*]}" COMP_CWORD=$current \
        %(autocomplete_var)s=complete_bash "$1")"
    [[ ${COMPREPLY[0]-} == *[=.] ]] && compopt -o nospace
    return 0
}

complete -o default -F %(complete_func)s %(prog_name)s
"""
"""Template in typer's format: with the names of the function, the variable and the command."""


def use_own_script() -> None:
    """Make ``--install-completion`` and ``--show-completion`` use this script for bash."""
    _completion_shared._completion_scripts["bash"] = SCRIPT
