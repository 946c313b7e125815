# Bash completion for hoistd(8).

_hoistd() {
  local cur=${COMP_WORDS[COMP_CWORD]} words
  words="--device --socket --group --pool --memory --clients --metrics --idle-timeout --status \
    --json --help -V --version"
  case ${COMP_WORDS[COMP_CWORD - 1]} in
    --device) words="auto cpu cuda" ;;
    --group) words=$(compgen -g) ;;
    --pool | --memory | --clients | --metrics | --idle-timeout) words= ;;
    --socket)
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
  esac
  ((COMP_CWORD > 1)) || words+=" version"
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -F _hoistd hoistd
