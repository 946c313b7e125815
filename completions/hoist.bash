# Bash completion for hoist(1).

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
    help) words="run top options doctor learn-program tune explain container match tensors bench" ;;
    tune) words="--quick --op --seconds --refine --force --json --help" ;;
    explain) words="sort hash gunzip qsort gemm --plot --cpus --json --help" ;;
    bench) words="aes codec container device gemm match memcpy placement qsort tensors --quick --list --filter --json --help" ;;
    container)
      words="info verify repair --blocks --json --help -o"
      if ((COMP_CWORD > 2)) && [[ $cur != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        return
      fi
      ;;
    match)
      words="build query learn delete sync stats verify dedup bench -i -o --format --no-sort \
             --no-store --max-memory --state --states --threshold --top --scorer --rank --fuzzy \
             --durability --device --patterns --length --symbols --json --jsonl --help"
      if ((COMP_CWORD > 2)) && [[ $cur != -* ]]; then
        case ${COMP_WORDS[COMP_CWORD - 1]} in
          --format) words="jsonl lines" ;;
          --durability) words="batch sync" ;;
          --device) words="auto cpu cuda:0" ;;
          --scorer) words="kato lcs indel levenshtein difflib difflib-autojunk" ;;
          *)
            mapfile -t COMPREPLY < <(compgen -f -- "$cur")
            return
            ;;
        esac
      fi
      ;;
    tensors)
      words="pack unpack info verify repair bench -o --encoding --fragments --parity --order \
             --precision --seed --rank --essential-share --digests --target --layers --policy \
             --min-quality --source --plot --size --folder --json --help"
      if ((COMP_CWORD > 2)) && [[ $cur != -* ]]; then
        case ${COMP_WORDS[COMP_CWORD - 1]} in
          --encoding) words="embedded spectral rph lrdf lossless" ;;
          --order) words="layer tensor" ;;
          --precision) words="f32 f16 bf16" ;;
          *)
            mapfile -t COMPREPLY < <(compgen -f -- "$cur")
            return
            ;;
        esac
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
