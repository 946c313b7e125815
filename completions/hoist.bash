# Bash completion for hoist(1). Written by scripts/command-table: change src/cli or that script.

_hoist_engines="sort md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum gzip gunzip zcat"
_hoist_guides="install first-steps sort-and-checksums models search match-service records px graph graph-programs python c cxx troubleshooting"

# The commands that a command has.
_hoist_commands() {
  case $1 in
    "") echo "run top options doctor learn-program version help tune explain container match px graph tensors records bench sort md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum gzip gunzip zcat" ;;
    "container") echo "info verify repair" ;;
    "match") echo "build query learn delete show sync stats verify repair dedup grep serve bench" ;;
    "px") echo "check run build emit fmt" ;;
    "graph") echo "show run canon eval" ;;
    "tensors") echo "pack unpack info verify repair bench" ;;
    "records") echo "encode append decode convert columns info verify repair bench" ;;
  esac
}

# The options of a command.
_hoist_options() {
  case $1 in
    "") echo "--help -V --version" ;;
    "run") echo "--help --ops --stats --verify --explain" ;;
    "top") echo "--help --once --json --interval" ;;
    "options") echo "--help --json" ;;
    "doctor") echo "--help --json" ;;
    "learn-program") echo "--help --check --json" ;;
    "version") echo "--help" ;;
    "help") echo "--help --no-pager" ;;
    "tune") echo "--help --quick --op --seconds --refine --force --json" ;;
    "explain") echo "--help --plot --force --cpus --measured --json" ;;
    "container") echo "--help" ;;
    "container info") echo "--help --blocks --json" ;;
    "container verify") echo "--help --json" ;;
    "container repair") echo "--help -o --output --force --json" ;;
    "match") echo "--help" ;;
    "match build") echo "--help -i --input -o --output --force --format --no-sort --no-store --max-memory" ;;
    "match query") echo "--help --state --states --threshold --top --scorer --rank --fuzzy --no-sort --show --json --jsonl --max-memory --device" ;;
    "match learn") echo "--help -i --input --format --durability --max-memory" ;;
    "match delete") echo "--help" ;;
    "match show") echo "--help --json" ;;
    "match sync") echo "--help" ;;
    "match stats") echo "--help --json" ;;
    "match verify") echo "--help --json" ;;
    "match repair") echo "--help -o --output --force --json" ;;
    "match dedup") echo "--help --threshold --format --scorer --no-sort --jsonl" ;;
    "match grep") echo "--help --scorer --threshold -k --top -r --recursive -i --ignore-case -v --invert-match -c --count -n --line-number -H --with-filename --no-filename -A --after-context -B --before-context -C --context --color --json" ;;
    "match serve") echo "--help --listen --threads --tls-certificate --tls-key --tokens --origin --config --sessions --session-ttl --fixed-ttl --durability --device --max-connections --max-requests --max-rate --max-sessions --max-open-nodes --max-memory --grace --json" ;;
    "match bench") echo "--help --patterns --length --symbols --device --json" ;;
    "px") echo "--help" ;;
    "px check") echo "--help --json" ;;
    "px run") echo "--help --in --out --set --len --target --check-bounds --no-check-bounds --time --explain --json --force" ;;
    "px build") echo "--help -o --output --lib --force" ;;
    "px emit") echo "--help --stage --check-bounds" ;;
    "px fmt") echo "--help --check" ;;
    "graph") echo "--help" ;;
    "graph show") echo "--help -o --force --fast-math --json" ;;
    "graph run") echo "--help --in --out --force --fast-math" ;;
    "graph canon") echo "--help --file --grammar --gates --no-gates --json" ;;
    "graph eval") echo "--help --file --grammar --json" ;;
    "tensors") echo "--help" ;;
    "tensors pack") echo "--help -o --output --force --encoding --fragments --parity --order --precision --seed --rank --essential-share --digests --json" ;;
    "tensors unpack") echo "--help -o --output --force --target --layers --fragments --policy --min-quality --skip-damaged --source --json" ;;
    "tensors info") echo "--help --plot --packed --force --json" ;;
    "tensors verify") echo "--help --json" ;;
    "tensors repair") echo "--help -o --output --force --json" ;;
    "tensors bench") echo "--help --size --folder --json --packed" ;;
    "records") echo "--help" ;;
    "records encode") echo "--help -o --output --force --format --header --best --json" ;;
    "records append") echo "--help --commit-every --best --json" ;;
    "records decode") echo "--help -o --output --force --rows --where --to --from --delimiter --no-header --floats --skip-unparsed --keep-text" ;;
    "records convert") echo "--help -o --output --force --to --from --delimiter --no-header --skip-unparsed --keep-text" ;;
    "records columns") echo "--help --select -o --output --force --to --floats" ;;
    "records info") echo "--help --plot --force --json" ;;
    "records verify") echo "--help --json" ;;
    "records repair") echo "--help -o --output --force --json" ;;
    "records bench") echo "--help --size --rounds --json" ;;
    "bench") echo "--help --filter --quick --list --json" ;;
  esac
}

# What follows an option of a command.
_hoist_values() {
  case $1 in
    "run --ops") echo "sort hash gunzip crc32 inflate qsort memcpy aes zstd deflate gemm -sort -hash -gunzip -crc32 -inflate -qsort +memcpy +aes -zstd +deflate -gemm" ;;
    "run --verify") echo "@text" ;;
    "top --interval") echo "@text" ;;
    "tune --op") echo "sort hash gunzip qsort gemm aes crc32 px" ;;
    "tune --seconds") echo "@text" ;;
    "explain --plot") echo "@file" ;;
    "explain --cpus") echo "@text" ;;
    "container repair -o" | "container repair --output") echo "@file" ;;
    "match build -i" | "match build --input") echo "@file" ;;
    "match build -o" | "match build --output") echo "@folder" ;;
    "match build --format") echo "jsonl lines" ;;
    "match build --max-memory") echo "@text" ;;
    "match query --state") echo "@text" ;;
    "match query --states") echo "@file" ;;
    "match query --threshold") echo "@text" ;;
    "match query --top") echo "@text" ;;
    "match query --scorer") echo "kato lcs indel levenshtein difflib difflib-autojunk" ;;
    "match query --rank") echo "@text" ;;
    "match query --fuzzy") echo "@text" ;;
    "match query --max-memory") echo "@text" ;;
    "match query --device") echo "auto cpu cuda:0" ;;
    "match learn -i" | "match learn --input") echo "@file" ;;
    "match learn --format") echo "jsonl lines" ;;
    "match learn --durability") echo "batch sync" ;;
    "match learn --max-memory") echo "@text" ;;
    "match repair -o" | "match repair --output") echo "@folder" ;;
    "match dedup --threshold") echo "@text" ;;
    "match dedup --format") echo "jsonl lines" ;;
    "match dedup --scorer") echo "kato lcs indel levenshtein difflib difflib-autojunk" ;;
    "match grep --scorer") echo "indel levenshtein lcs" ;;
    "match grep --threshold") echo "@text" ;;
    "match grep -k" | "match grep --top") echo "@text" ;;
    "match grep -A" | "match grep --after-context") echo "@text" ;;
    "match grep -B" | "match grep --before-context") echo "@text" ;;
    "match grep -C" | "match grep --context") echo "@text" ;;
    "match grep --color") echo "auto always never" ;;
    "match serve --listen") echo "@text" ;;
    "match serve --threads") echo "@text" ;;
    "match serve --tls-certificate") echo "@file" ;;
    "match serve --tls-key") echo "@file" ;;
    "match serve --tokens") echo "@file" ;;
    "match serve --origin") echo "@text" ;;
    "match serve --config") echo "@file" ;;
    "match serve --sessions") echo "memory durable" ;;
    "match serve --session-ttl") echo "@text" ;;
    "match serve --durability") echo "batch sync" ;;
    "match serve --device") echo "auto cpu cuda:0" ;;
    "match serve --max-connections") echo "@text" ;;
    "match serve --max-requests") echo "@text" ;;
    "match serve --max-rate") echo "@text" ;;
    "match serve --max-sessions") echo "@text" ;;
    "match serve --max-open-nodes") echo "@text" ;;
    "match serve --max-memory") echo "@text" ;;
    "match serve --grace") echo "@text" ;;
    "match bench --patterns") echo "@text" ;;
    "match bench --length") echo "@text" ;;
    "match bench --symbols") echo "@text" ;;
    "match bench --device") echo "auto cpu cuda:0" ;;
    "px run --in") echo "@text" ;;
    "px run --out") echo "@text" ;;
    "px run --set") echo "@text" ;;
    "px run --len") echo "@text" ;;
    "px run --target") echo "auto cpu cuda interpreter" ;;
    "px build -o" | "px build --output") echo "@text" ;;
    "px emit --stage") echo "ast ir cuda cpp ptx" ;;
    "graph show -o") echo "@file" ;;
    "graph run --in") echo "@text" ;;
    "graph run --out") echo "@text" ;;
    "graph canon --file") echo "@file" ;;
    "graph canon --grammar") echo "compiler spec" ;;
    "graph eval --file") echo "@file" ;;
    "graph eval --grammar") echo "compiler spec" ;;
    "tensors pack -o" | "tensors pack --output") echo "@file" ;;
    "tensors pack --encoding") echo "embedded spectral rph lrdf lossless" ;;
    "tensors pack --fragments") echo "@text" ;;
    "tensors pack --parity") echo "@text" ;;
    "tensors pack --order") echo "layer tensor" ;;
    "tensors pack --precision") echo "f32 f16 bf16" ;;
    "tensors pack --seed") echo "@text" ;;
    "tensors pack --rank") echo "@text" ;;
    "tensors pack --essential-share") echo "@text" ;;
    "tensors unpack -o" | "tensors unpack --output") echo "@file" ;;
    "tensors unpack --target") echo "@text" ;;
    "tensors unpack --layers") echo "@text" ;;
    "tensors unpack --fragments") echo "@text" ;;
    "tensors unpack --policy") echo "@text" ;;
    "tensors unpack --min-quality") echo "@text" ;;
    "tensors unpack --source") echo "@file" ;;
    "tensors info --plot") echo "@file" ;;
    "tensors repair -o" | "tensors repair --output") echo "@file" ;;
    "tensors bench --size") echo "@text" ;;
    "tensors bench --folder") echo "@folder" ;;
    "records encode -o" | "records encode --output") echo "@file" ;;
    "records encode --format") echo "auto json csv pairs symbolic log plain" ;;
    "records encode --header") echo "auto yes no" ;;
    "records append --commit-every") echo "@text" ;;
    "records decode -o" | "records decode --output") echo "@file" ;;
    "records decode --rows") echo "@text" ;;
    "records decode --where") echo "@text" ;;
    "records decode --to") echo "jsonl csv lt lts ltu sym arrow" ;;
    "records decode --from") echo "auto jsonl csv lt lts ltu sym lines" ;;
    "records decode --delimiter") echo "@text" ;;
    "records decode --keep-text") echo "@text" ;;
    "records convert -o" | "records convert --output") echo "@file" ;;
    "records convert --to") echo "jsonl csv lt lts ltu sym" ;;
    "records convert --from") echo "auto jsonl csv lt lts ltu sym lines" ;;
    "records convert --delimiter") echo "@text" ;;
    "records convert --keep-text") echo "@text" ;;
    "records columns --select") echo "@text" ;;
    "records columns -o" | "records columns --output") echo "@file" ;;
    "records columns --to") echo "npz arrow" ;;
    "records info --plot") echo "@file" ;;
    "records repair -o" | "records repair --output") echo "@file" ;;
    "records bench --size") echo "@text" ;;
    "records bench --rounds") echo "@text" ;;
    "bench --filter") echo "@text" ;;
  esac
}

# What a command's arguments are.
_hoist_arguments() {
  case $1 in
    "run") echo "@program" ;;
    "learn-program") echo "@file" ;;
    "help") echo "@topic" ;;
    "explain") echo "sort hash gunzip qsort gemm aes crc32 px" ;;
    "container info") echo "@file" ;;
    "container verify") echo "@file" ;;
    "container repair") echo "@file" ;;
    "match query") echo "@folder" ;;
    "match learn") echo "@folder" ;;
    "match delete") echo "@folder" ;;
    "match show") echo "@folder" ;;
    "match sync") echo "@folder" ;;
    "match stats") echo "@folder" ;;
    "match verify") echo "@folder" ;;
    "match repair") echo "@folder" ;;
    "match dedup") echo "@file" ;;
    "match grep") echo "@text" ;;
    "match serve") echo "@text" ;;
    "px check") echo "@file" ;;
    "px run") echo "@file" ;;
    "px build") echo "@file" ;;
    "px emit") echo "@file" ;;
    "px fmt") echo "@file" ;;
    "graph show") echo "@file" ;;
    "graph run") echo "@file" ;;
    "graph canon") echo "@text" ;;
    "graph eval") echo "@text" ;;
    "tensors pack") echo "@file" ;;
    "tensors unpack") echo "@file" ;;
    "tensors info") echo "@file" ;;
    "tensors verify") echo "@file" ;;
    "tensors repair") echo "@file" ;;
    "records encode") echo "@file" ;;
    "records append") echo "@file" ;;
    "records decode") echo "@file" ;;
    "records convert") echo "@file" ;;
    "records columns") echo "@file" ;;
    "records info") echo "@file" ;;
    "records verify") echo "@file" ;;
    "records repair") echo "@file" ;;
    "records bench") echo "@file" ;;
    "bench") echo "aes codec container device gemm match memcpy placement qsort radix_sort records tensors" ;;
  esac
}

# Offers what $1 holds: words, or the kind of what may follow.
_hoist_offer() {
  local cur=$2
  case $1 in
    @file) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    @folder) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
    @text | "") ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur") ;;
  esac
  [[ $1 != @f* ]] || compopt -o filenames 2>/dev/null
}

# Where PROGRAM stands among the words of `hoist run`. Nothing where the cursor is before it.
_hoist_program_at() {
  local at=2 width
  while ((at <= COMP_CWORD)); do
    width=1
    case ${COMP_WORDS[at]} in
      --)
        ((at == COMP_CWORD)) || echo $((at + 1))
        return
        ;;
      -*)
        # Bash makes words of --name=value: --name, =, value.
        if [[ ${COMP_WORDS[at + 1]-} == = ]]; then
          width=3
        elif [[ -n $(_hoist_values "run ${COMP_WORDS[at]}") ]]; then
          width=2
        fi
        ;;
      *)
        echo "$at"
        return
        ;;
    esac
    ((at += width))
  done
}

# Completes the words from $1 on as if they were all: a program, then what completes its arguments.
_hoist_program() {
  local first=$1 cur=${COMP_WORDS[COMP_CWORD]} specification
  if declare -F _comp_command_offset >/dev/null; then
    _comp_command_offset "$first"
    return
  elif declare -F _command_offset >/dev/null; then
    _command_offset "$first"
    return
  fi
  COMP_WORDS=("${COMP_WORDS[@]:first:COMP_CWORD-first+1}")
  COMP_CWORD=$((COMP_CWORD - first))
  COMP_LINE="${COMP_WORDS[*]}"
  COMP_POINT=${#COMP_LINE}
  if ((COMP_CWORD == 0)); then
    if [[ $cur == */* ]]; then
      _hoist_offer @file "$cur"
    else
      mapfile -t COMPREPLY < <(compgen -c -- "$cur" | sort -u)
    fi
    return
  fi
  specification=$(complete -p -- "${COMP_WORDS[0]##*/}" 2>/dev/null)
  if [[ $specification =~ \ -F\ ([^ ]+) ]]; then
    "${BASH_REMATCH[1]}" "${COMP_WORDS[0]}" "$cur" "${COMP_WORDS[COMP_CWORD - 1]}"
  else
    _hoist_offer @file "$cur"
  fi
}

_hoist() {
  local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local command= at=1 first= words
  COMPREPLY=()
  while ((at < COMP_CWORD)) &&
    [[ " $(_hoist_commands "$command") " == *" ${COMP_WORDS[at]} "* ]]; do
    command+="${command:+ }${COMP_WORDS[at++]}"
  done
  if [[ $command == run ]]; then
    first=$(_hoist_program_at)
  elif [[ -n $command && " $_hoist_engines " == *" $command "* ]]; then
    first=1
  fi
  if [[ -n $first ]]; then
    _hoist_program "$first"
    return
  fi
  if [[ $command == help && $cur != -* ]]; then
    local path=
    for ((at = 2; at < COMP_CWORD; ++at)); do path+="${path:+ }${COMP_WORDS[at]}"; done
    words=$(_hoist_commands "$path")
    [[ -n $path ]] || words+=" $_hoist_guides"
    _hoist_offer "$words" "$cur"
    return
  fi
  if [[ $cur == = ]]; then
    cur=
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if [[ $previous == -* ]]; then
    words=$(_hoist_values "$command $previous")
    if [[ -n $words && $previous != "$cur" ]]; then
      _hoist_offer "$words" "$cur"
      return
    fi
  fi
  if [[ $cur == -* ]]; then
    _hoist_offer "$(_hoist_options "$command")" "$cur"
    return
  fi
  words=$(_hoist_commands "$command")
  [[ -n $words ]] || words=$(_hoist_arguments "$command")
  _hoist_offer "$words" "$cur"
  # An empty word may become an option, too.
  if [[ -z $cur && ${words:-@text} != @f* ]]; then
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$(_hoist_options "$command")")
  fi
}
complete -o default -F _hoist hoist
