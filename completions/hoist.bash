# Bash completion for hoist(1).

# The options of a command that has commands of its own.
_hoist_options() {
  case "$1 $2" in
    "container info") echo "--blocks --json --help" ;;
    "container verify") echo "--json --help" ;;
    "container repair") echo "-o --output --force --json --help" ;;
    "match build") echo "-i --input -o --output --force --format --no-sort --no-store --max-memory --help" ;;
    "match query")
      echo "--state --states --threshold --top --scorer --rank --fuzzy --no-sort --json --jsonl \
            --max-memory --device --help"
      ;;
    "match learn") echo "-i --input --format --durability --max-memory --help" ;;
    "match delete" | "match sync") echo "--help" ;;
    "match stats" | "match verify") echo "--json --help" ;;
    "match repair") echo "-o --output --force --json --help" ;;
    "match dedup") echo "--threshold --format --scorer --no-sort --jsonl --help" ;;
    "match bench") echo "--patterns --length --symbols --device --json --help" ;;
    "tensors pack")
      echo "-o --output --force --encoding --fragments --parity --order --precision --seed --rank \
            --essential-share --digests --json --help"
      ;;
    "tensors unpack")
      echo "-o --output --force --target --layers --fragments --policy --min-quality --skip-damaged \
            --source --json --help"
      ;;
    "tensors info") echo "--plot --force --json --help" ;;
    "tensors verify") echo "--json --help" ;;
    "tensors repair") echo "-o --output --force --json --help" ;;
    "tensors bench") echo "--size --folder --json --help" ;;
  esac
}

# What may follow an option; nothing where that is anybody's guess.
_hoist_values() {
  case $1 in
    --format) echo "jsonl lines" ;;
    --durability) echo "batch sync" ;;
    --device) echo "auto cpu cuda:0" ;;
    --scorer) echo "kato lcs indel levenshtein difflib difflib-autojunk" ;;
    --encoding) echo "embedded spectral rph lrdf lossless" ;;
    --order) echo "layer tensor" ;;
    --precision) echo "f32 f16 bf16" ;;
  esac
}

_hoist() {
  local cur=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]-} i
  local engines="sort md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum gzip gunzip zcat"
  COMPREPLY=()

  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W \
      "run top options doctor learn-program tune explain container match tensors bench help $engines \
       --help --version" -- "$cur")
    return
  fi

  # A program's own arguments: complete them as if hoist were not there.
  local first=0
  case $command in
    run)
      for ((i = 2; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} == -- ]]; then
          first=$((i + 1))
          break
        fi
      done
      ;;
    *) [[ " $engines " == *" $command "* ]] && first=1 ;;
  esac
  if ((first > 0)); then
    if declare -F _command_offset >/dev/null; then
      _command_offset "$first"
    elif declare -F _comp_command_offset >/dev/null; then
      _comp_command_offset "$first"
    else
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
    return
  fi

  local words=
  case $command in
    run) words="--ops --stats --stats= --verify= --explain --help --" ;;
    top) words="--once --json --interval --help" ;;
    help)
      words="run top options doctor learn-program tune explain container match tensors bench"
      case $((COMP_CWORD > 2)):${COMP_WORDS[2]-} in
        0:*) words+=" $engines" ;;
        1:container) words="info verify repair" ;;
        1:match) words="build query learn delete sync stats verify repair dedup bench" ;;
        1:tensors) words="pack unpack info verify repair bench" ;;
        *) words= ;;
      esac
      ;;
    tune) words="--quick --op --seconds --refine --force --json --help" ;;
    explain) words="sort hash gunzip qsort gemm --plot --force --cpus --measured --json --help" ;;
    bench) words="aes codec container device gemm match memcpy placement qsort tensors --quick --list --filter --json --help" ;;
    container | match | tensors)
      case $command in
        container) words="info verify repair --help" ;;
        match) words="build query learn delete sync stats verify repair dedup bench --help" ;;
        tensors) words="pack unpack info verify repair bench --help" ;;
      esac
      if ((COMP_CWORD > 2)); then
        words=$(_hoist_options "$command" "${COMP_WORDS[2]}")
        [[ $cur == -* ]] || words=$(_hoist_values "${COMP_WORDS[COMP_CWORD - 1]}")
        if [[ $cur != -* && -z $words ]]; then
          mapfile -t COMPREPLY < <(compgen -f -- "$cur")
          return
        fi
      fi
      ;;
    options | doctor) words="--json --help" ;;
    learn-program)
      words="--check --json --help"
      if [[ $cur != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        return
      fi
      ;;
  esac
  case ${COMP_WORDS[COMP_CWORD - 1]} in
    --ops) words="sort hash gunzip crc32 inflate deflate zstd qsort memcpy aes gemm -sort -hash -gunzip -crc32 -inflate -qsort -zstd -gemm +aes +deflate +zstd +memcpy" ;;
    --interval) words= ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -o default -F _hoist hoist
