# What cobra's script below needs of the package bash-completion, for shells
# without it: words that may hold : and =, as names of events do. Bash splits
# them there.
if ! declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref()
    {
        local i last=-1 word left="${COMP_LINE}"
        words=()
        for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
            word="${COMP_WORDS[i]}"
            if ((i > 0)) && [[ ${left} != [[:space:]]* && (${word} == [=:]* || ${COMP_WORDS[i-1]} == *[=:]) && -n ${left} ]]; then
                words[last]+="${word}"
            else
                words[++last]="${word}"
                left="${left#"${left%%[![:space:]]*}"}"
            fi
            left="${left#"${word}"}"
            ((i == COMP_CWORD)) && cword=${last}
        done
        cur="${words[cword]}"
        prev=""
        ((cword > 0)) && prev="${words[cword-1]}"
    }
fi
if ! declare -F __ltrim_colon_completions >/dev/null; then
    __ltrim_colon_completions()
    {
        [[ $1 == *:* && ${COMP_WORDBREAKS} == *:* ]] || return 0
        local i prefix="${1%"${1##*:}"}"
        for ((i = 0; i < ${#COMPREPLY[@]}; i++)); do
            COMPREPLY[i]="${COMPREPLY[i]#"${prefix}"}"
        done
    }
fi

