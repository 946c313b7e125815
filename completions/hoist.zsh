#compdef hoist
# Zsh completion for hoist(1). Written by scripts/command-table: change src/cli or that script.

_hoist() {
  local curcontext=$curcontext state
  local -a hoist_commands=(
    'run:Run a program with its heavy work taken over'
    'top:Show the live counters of running programs'
    'options:Print the options that the environment sets'
    'doctor:Say what is on, and why the rest is off'
    'learn-program:Check the engine against a program'\''s build, and make that build known'
    'version:Print the version'
    'help:Show a guide, or the help of a command'
    'tune:Measure what runs fastest where on this machine'
    'explain:Say what placement chooses for an operation, and why'
    'container:Look into, verify or repair a container file'
    'match:Search exactly for similar patterns\: build, query, learn, dedup'
    'px:Kernels written once, for CPU and GPU\: check, run, build'
    'graph:Tensor programs\: show, run; circuits\: canonical texts, bytes'
    'tensors:Pack model weights so that they load progressively, and back'
    'records:Encode text of records into columns, and back'
    'bench:Measure the parts of Hoist beside their peers'
    'sort:The engine that replaces sort'
    'md5sum:The engine that replaces md5sum'
    'sha1sum:The engine that replaces sha1sum'
    'sha224sum:The engine that replaces sha224sum'
    'sha256sum:The engine that replaces sha256sum'
    'sha384sum:The engine that replaces sha384sum'
    'sha512sum:The engine that replaces sha512sum'
    'b2sum:The engine that replaces b2sum'
    'cksum:The engine that replaces cksum'
    'gzip:The engine that replaces gzip'
    'gunzip:gzip -d'
    'zcat:gzip -cd'
  )
  _arguments -C \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    '(-V --version)'-V'[Print the version]' \
    '(-V --version)'--version'[Print the version]' \
    '(-)1: :->command' \
    '(-)*:: :->arguments'
  case $state in
    command) _describe command hoist_commands ;;
    arguments)
      case $words[1] in
        run) _hoist_run ;;
        top) _hoist_top ;;
        options) _hoist_options ;;
        doctor) _hoist_doctor ;;
        learn-program) _hoist_learn_program ;;
        version) _hoist_version ;;
        help) _hoist_help ;;
        tune) _hoist_tune ;;
        explain) _hoist_explain ;;
        container) _hoist_container ;;
        match) _hoist_match ;;
        px) _hoist_px ;;
        graph) _hoist_graph ;;
        tensors) _hoist_tensors ;;
        records) _hoist_records ;;
        bench) _hoist_bench ;;
        sort|md5sum|sha1sum|sha224sum|sha256sum|sha384sum|sha512sum|b2sum|cksum|gzip|gunzip|zcat) _normal ;;
      esac
      ;;
  esac
}

_hoist_run() {
  if [[ $words[2] == -- ]] && (( CURRENT > 2 )); then
    shift 2 words
    (( CURRENT -= 2 ))
    _normal
    return
  fi
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --ops='[Operations\: NAME,… or +NAME or -NAME]:LIST:(sort hash gunzip crc32 inflate qsort memcpy aes zstd deflate gemm -sort -hash -gunzip -crc32 -inflate -qsort +memcpy +aes -zstd +deflate -gemm)' \
    --stats=-'[Say what ran where\: on standard error, or as JSON into FILE]::FILE:_files' \
    --verify='[Replay this share of the calls on the original and compare]:RATE: ' \
    --explain'[Say for each program why, on standard error]' \
    '(-)1:program: _command_names -e' \
    '*::arguments: _normal'
}

_hoist_top() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --once'[Print once and end]' \
    --json'[Print as JSON]' \
    --interval='[Seconds between two looks]:FLOAT: '
}

_hoist_options() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --json'[Print as JSON]'
}

_hoist_doctor() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --json'[Print as JSON]'
}

_hoist_learn_program() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --check'[Only check]' \
    --json'[Print as JSON]' \
    '1:PATH:_files'
}

_hoist_version() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]'
}

_hoist_help() {
  local -a hoist_topics=(run top options doctor learn-program version help tune explain container match px graph tensors records bench sort md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum gzip gunzip zcat install first-steps sort-and-checksums models search match-service records px graph graph-programs python c cxx troubleshooting)
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --no-pager'[Print a guide without a pager]' \
    '1:topic:($hoist_topics)'
}

_hoist_tune() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --quick'[Fewer and smaller sizes\: less than a minute]' \
    --op='[Only this OPERATION or OPERATION/VARIANT]:OP:(sort hash gunzip qsort gemm aes crc32 px)' \
    --seconds='[Time to take\: 48 for --quick, else 480]:FLOAT: ' \
    --refine'[Measure nothing\: fold the noted timings of real runs into the profile]' \
    --force'[Replace earlier measurements even where the new ones scatter]' \
    --json'[Print as JSON]'
}

_hoist_explain() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --plot='[Draw predicted time over size into an SVG file]:FILE:_files' \
    --force'[Replace the output where it exists]' \
    --cpus='[Assume this number of free CPUs, not the number that is free now]:INT: ' \
    --measured'[What was measured at each size, and what the choice costs over the fastest]' \
    --json'[Print as JSON]' \
    '1:OP:(sort hash gunzip qsort gemm aes crc32 px)' \
    '*:SIZE: '
}

_hoist_container() {
  local curcontext=$curcontext state
  local -a hoist_commands=(
    'info:Say what a container holds'
    'verify:Check every byte without decoding'
    'repair:Save what is intact into a new file; the old one is only read'
  )
  _arguments -C \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    '(-)1: :->command' \
    '(-)*:: :->arguments'
  case $state in
    command) _describe command hoist_commands ;;
    arguments)
      case $words[1] in
        info) _hoist_container_info ;;
        verify) _hoist_container_verify ;;
        repair) _hoist_container_repair ;;
      esac
      ;;
  esac
}

_hoist_container_info() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --blocks'[List the blocks]' \
    --json'[Print as JSON]' \
    '1:FILE:_files'
}

_hoist_container_verify() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --json'[Print as JSON]' \
    '*:FILE:_files'
}

_hoist_container_repair() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    '(-o --output)'-o'[The new container]:OUT:_files' \
    '(-o --output)'--output='[The new container]:OUT:_files' \
    --force'[Replace the output where it exists]' \
    --json'[Print as JSON]' \
    '1:FILE:_files'
}

_hoist_match() {
  local curcontext=$curcontext state
  local -a hoist_commands=(
    'build:Build an index of the patterns of a file'
    'query:Find the patterns that resemble a state'
    'learn:Learn the patterns of a file'
    'delete:Remove patterns'
    'show:Print patterns and what is known of them'
    'sync:Lay out what was learned and save the snapshot'
    'stats:Say what an index holds'
    'verify:Compare memory, snapshot and store'
    'repair:Make a new index of what is whole in a damaged one'
    'dedup:Print all pairs of lines that are alike'
    'grep:Print the lines of files that resemble a line'
    'serve:Serve indexes over HTTP, with KATO'\''s interface'
    'bench:Measure learning, queries, sync and opening'
  )
  _arguments -C \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    '(-)1: :->command' \
    '(-)*:: :->arguments'
  case $state in
    command) _describe command hoist_commands ;;
    arguments)
      case $words[1] in
        build) _hoist_match_build ;;
        query) _hoist_match_query ;;
        learn) _hoist_match_learn ;;
        delete) _hoist_match_delete ;;
        show) _hoist_match_show ;;
        sync) _hoist_match_sync ;;
        stats) _hoist_match_stats ;;
        verify) _hoist_match_verify ;;
        repair) _hoist_match_repair ;;
        dedup) _hoist_match_dedup ;;
        grep) _hoist_match_grep ;;
        serve) _hoist_match_serve ;;
        bench) _hoist_match_bench ;;
      esac
      ;;
  esac
}

_hoist_match_build() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    '(-i --input)'-i'[The patterns; - is standard input]:FILE:_files' \
    '(-i --input)'--input='[The patterns; - is standard input]:FILE:_files' \
    '(-o --output)'-o'[The new index, a folder]:INDEX:_files -/' \
    '(-o --output)'--output='[The new index, a folder]:INDEX:_files -/' \
    --force'[Replace an index that is there]' \
    --format='[jsonl, or lines\: words, each an event of its own]:FORMAT:(jsonl lines)' \
    --no-sort'[Keep the order of the symbols inside events]' \
    --no-store'[Search-only\: nothing can be learned later]' \
    --max-memory='[Refuse an index that takes more memory\: 800M, 2G]:SIZE: '
}

_hoist_match_query() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --state='[A list of events, as JSON]:STATE: ' \
    --states='[A file with a state on each line; - is standard input]:FILE:_files' \
    --threshold='[The least similarity, 0 to 1]:FLOAT: ' \
    --top='[Number of results (0 = all)]:UINT: ' \
    --scorer='[kato, lcs, indel, levenshtein, difflib or difflib-autojunk]:SCORER:(kato lcs indel levenshtein difflib difflib-autojunk)' \
    --rank='[kato\: the key by which records are ranked]:KEY: ' \
    --fuzzy='[kato\: let symbols match that are alike, 0 to 1]:FLOAT: ' \
    --no-sort'[The order inside events counts\: for an index built so]' \
    --show'[Print the patterns'\'' text, too]' \
    --json'[Print an array of records]' \
    --jsonl'[Print a record, or with --states an array, a line]' \
    --max-memory='[Refuse an index that takes more memory\: 800M, 2G]:SIZE: ' \
    --device='[Where to search\: cpu, cuda\:N, cuda\:N,cuda\:M, or auto\: a GPU once it pays]:DEVICE:(auto cpu cuda\:0)' \
    '1:INDEX:_files -/'
}

_hoist_match_learn() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    '(-i --input)'-i'[The patterns; - is standard input]:FILE:_files' \
    '(-i --input)'--input='[The patterns; - is standard input]:FILE:_files' \
    --format='[jsonl, or lines\: words, each an event of its own]:FORMAT:(jsonl lines)' \
    --durability='[batch\: survives a kill; sync\: also a power cut]:TEXT:(batch sync)' \
    --max-memory='[Refuse an index that takes more memory\: 800M, 2G]:SIZE: ' \
    '1:INDEX:_files -/'
}

_hoist_match_delete() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    '1:INDEX:_files -/' \
    '*:NAME: '
}

_hoist_match_show() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --json'[Print as JSON]' \
    '1:INDEX:_files -/' \
    '*:NAME: '
}

_hoist_match_sync() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    '1:INDEX:_files -/'
}

_hoist_match_stats() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --json'[Print as JSON]' \
    '1:INDEX:_files -/'
}

_hoist_match_verify() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --json'[Print as JSON]' \
    '1:INDEX:_files -/'
}

_hoist_match_repair() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    '(-o --output)'-o'[The new index, a folder]:NEW:_files -/' \
    '(-o --output)'--output='[The new index, a folder]:NEW:_files -/' \
    --force'[Replace an index that is there]' \
    --json'[Print as JSON]' \
    '1:INDEX:_files -/'
}

_hoist_match_dedup() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --threshold='[The least similarity, 0 to 1]:FLOAT: ' \
    --format='[jsonl, or lines\: words, each an event of its own]:FORMAT:(jsonl lines)' \
    --scorer='[kato, lcs, indel, levenshtein, difflib or difflib-autojunk]:SCORER:(kato lcs indel levenshtein difflib difflib-autojunk)' \
    --no-sort'[Keep the order of the symbols inside events]' \
    --jsonl'[Print an object a line]' \
    '1:FILE:_files'
}

_hoist_match_grep() {
  _arguments -s -S \
    --help'[Print this help message and exit]' \
    --scorer='[indel, levenshtein or lcs]:SCORER:(indel levenshtein lcs)' \
    --threshold='[The least similarity, 0 to 1]:FLOAT: ' \
    '(-k --top)'-k'[Only the N best lines, best first (0 = all)]:N: ' \
    '(-k --top)'--top='[Only the N best lines, best first (0 = all)]:N: ' \
    '(-r --recursive)'-r'[Search the files of folders]' \
    '(-r --recursive)'--recursive'[Search the files of folders]' \
    '(-i --ignore-case)'-i'[Upper and lower case are the same]' \
    '(-i --ignore-case)'--ignore-case'[Upper and lower case are the same]' \
    '(-v --invert-match)'-v'[The lines that do not resemble it]' \
    '(-v --invert-match)'--invert-match'[The lines that do not resemble it]' \
    '(-c --count)'-c'[Print the number of lines of each file]' \
    '(-c --count)'--count'[Print the number of lines of each file]' \
    '(-n --line-number)'-n'[Print line numbers]' \
    '(-n --line-number)'--line-number'[Print line numbers]' \
    '(-H --with-filename)'-H'[Print names of files]' \
    '(-H --with-filename)'--with-filename'[Print names of files]' \
    '(-h --no-filename)'-h'[Print no names of files]' \
    '(-h --no-filename)'--no-filename'[Print no names of files]' \
    '(-A --after-context)'-A'[Print N lines behind each one, too]:N: ' \
    '(-A --after-context)'--after-context='[Print N lines behind each one, too]:N: ' \
    '(-B --before-context)'-B'[Print N lines before each one, too]:N: ' \
    '(-B --before-context)'--before-context='[Print N lines before each one, too]:N: ' \
    '(-C --context)'-C'[Both]:N: ' \
    '(-C --context)'--context='[Both]:N: ' \
    --color='[Colour what a line has in common with PATTERN]:WHEN:(auto always never)' \
    --json'[Print an object a line, with the similarity]' \
    '1:PATTERN: ' \
    '*:FILE:_files'
}

_hoist_match_serve() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    '*'--listen='[HOST\:PORT, \[\:\:1\]\:PORT, unix\:PATH, or systemd; several times for several]:ADDRESS: ' \
    --threads='[Threads that answer]:N: ' \
    --tls-certificate='[PEM file; then it speaks TLS]:FILE:_files' \
    --tls-key='[The certificate'\''s private key, PEM]:FILE:_files' \
    --tokens='[File of tokens, one a line; then every request must bring one]:FILE:_files' \
    '*'--origin='[Let pages of this origin ask from a browser (CORS); * is all]:ORIGIN: ' \
    --config='[JSON file with the sessions'\'' defaults, such as {"recall_threshold"\: 0.2}]:FILE:_files' \
    --sessions='[durable\: they survive a restart]:WHERE:(memory durable)' \
    --session-ttl='[Seconds that a session lives after its last request]:SECONDS: ' \
    --fixed-ttl'[A session'\''s time runs out whether it is used or not]' \
    --durability='[batch\: what was answered survives kill -9; sync\: a power cut, too]:HOW:(batch sync)' \
    --device='[Where patterns are searched\: cpu, cuda\:N, or auto\: a GPU once it pays]:DEVICE:(auto cpu cuda\:0)' \
    --max-connections='[Connections at once]:N: ' \
    --max-requests='[Requests being answered at once; more get 503]:N: ' \
    --max-rate='[Requests a second of one address; more get 429 (0\: any)]:N: ' \
    --max-sessions='[Sessions at once]:N: ' \
    --max-open-nodes='[Nodes that are open at once; others are opened when they are asked for]:N: ' \
    --max-memory='[Memory of a node\: its index, affinities and vectors; more gets 507]:SIZE: ' \
    --grace='[Seconds that requests have to finish when it ends]:SECONDS: ' \
    --json'[Say where it listens as JSON]' \
    '1:FOLDER: '
}

_hoist_match_bench() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --patterns='[Number of patterns]:UINT: ' \
    --length='[Symbols in each pattern]:UINT: ' \
    --symbols='[Different symbols, Zipf-distributed]:UINT: ' \
    --device='[Where to search\: cpu, cuda\:N, cuda\:N,cuda\:M, or auto\: a GPU once it pays]:DEVICE:(auto cpu cuda\:0)' \
    --json'[Print as JSON]'
}

_hoist_px() {
  local curcontext=$curcontext state
  local -a hoist_commands=(
    'check:Report errors and warnings'
    'run:Run the launches of a file'
    'build:Write C++ and CUDA sources that need nothing of Hoist'
    'emit:Print what a stage of the compiler makes'
    'fmt:Lay files out, in place'
  )
  _arguments -C \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    '(-)1: :->command' \
    '(-)*:: :->arguments'
  case $state in
    command) _describe command hoist_commands ;;
    arguments)
      case $words[1] in
        check) _hoist_px_check ;;
        run) _hoist_px_run ;;
        build) _hoist_px_build ;;
        emit) _hoist_px_emit ;;
        fmt) _hoist_px_fmt ;;
      esac
      ;;
  esac
}

_hoist_px_check() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --json'[Print them as JSON]' \
    '*:FILE:_files'
}

_hoist_px_run() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    '*'--in='[Read an array, .npy or raw]:ARRAY=FILE: ' \
    '*'--out='[Write an array, .npy or raw]:ARRAY=FILE: ' \
    '*'--set='[Give a scalar its value]:NAME=VALUE: ' \
    '*'--len='[Begin with an array of N zeros]:ARRAY=N: ' \
    --target='[Where to run it; auto\: a GPU where it pays]:TARGET:(auto cpu cuda interpreter)' \
    --check-bounds'[Find accesses beyond an array'\''s end, which is done unless the next one is given]' \
    --no-check-bounds'[Leave these checks out]' \
    --time'[Print how long compiling, copies and launches took]' \
    --explain'[Only print where it would run, and why]' \
    --json'[Print times and arrays as JSON]' \
    --force'[Replace the output where it exists]' \
    '1:FILE:_files'
}

_hoist_px_build() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    '(-o --output)'-o'[Where NAME.h, NAME.cc and NAME.cu go]:FOLDER: ' \
    '(-o --output)'--output='[Where NAME.h, NAME.cc and NAME.cu go]:FOLDER: ' \
    --lib'[Compile NAME.cc, too\: libNAME.so]' \
    --force'[Replace the output where it exists]' \
    '1:FILE:_files'
}

_hoist_px_emit() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --stage='[The stage]:STAGE:(ast ir cuda cpp ptx)' \
    --check-bounds'[With the checks of every access]' \
    '1:FILE:_files'
}

_hoist_px_fmt() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --check'[Only name the files that would change]' \
    '*:FILE:_files'
}

_hoist_graph() {
  local curcontext=$curcontext state
  local -a hoist_commands=(
    'show:Say how a tensor program is fused, and draw it'
    'run:Run a tensor program on arrays of files'
    'canon:Print the canonical text of a circuit'
    'eval:Print the bytes, addresses and words of a circuit'
  )
  _arguments -C \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    '(-)1: :->command' \
    '(-)*:: :->arguments'
  case $state in
    command) _describe command hoist_commands ;;
    arguments)
      case $words[1] in
        show) _hoist_graph_show ;;
        run) _hoist_graph_run ;;
        canon) _hoist_graph_canon ;;
        eval) _hoist_graph_eval ;;
      esac
      ;;
  esac
}

_hoist_graph_show() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    -o'[Draw the nodes, grouped by kernel, into an SVG file]:SVG:_files' \
    --force'[Replace the output where it exists]' \
    --fast-math'[Allow what rounds otherwise, or is wrong for infinities, NaN or -0]' \
    --json'[Print as JSON]' \
    '1:FILE:_files'
}

_hoist_graph_run() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    '*'--in='[Read an input, .npy or raw]:ARRAY=FILE: ' \
    '*'--out='[Write an output, .npy or raw]:ARRAY=FILE: ' \
    --force'[Replace the output where it exists]' \
    --fast-math'[Allow what rounds otherwise, or is wrong for infinities, NaN or -0]' \
    '1:FILE:_files'
}

_hoist_graph_canon() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --file='[Read the circuit from there]:FILE:_files' \
    --grammar='[compiler\: copy names source and destination; spec\: it names one class]:GRAMMAR:(compiler spec)' \
    --gates'[Marks and copies of some classes are gates where nothing reads what they would write, unless the next one is given]' \
    --no-gates'[All are operations on memory]' \
    --json'[Print it as JSON, with the rules that were used]' \
    '1:EXPR: '
}

_hoist_graph_eval() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --file='[Read the circuit from there]:FILE:_files' \
    --grammar='[compiler\: copy names source and destination; spec\: it names one class]:GRAMMAR:(compiler spec)' \
    --json'[Print them as JSON]' \
    '1:EXPR: '
}

_hoist_tensors() {
  local curcontext=$curcontext state
  local -a hoist_commands=(
    'pack:Pack model files into a .holo file'
    'unpack:Give the packed files back, whole or roughly'
    'info:Say what a .holo file holds, and how good it is'
    'verify:Check every byte without decoding'
    'repair:Rewrite a damaged file from its parity, as it was'
    'bench:Measure packing and loading on this machine'
  )
  _arguments -C \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    '(-)1: :->command' \
    '(-)*:: :->arguments'
  case $state in
    command) _describe command hoist_commands ;;
    arguments)
      case $words[1] in
        pack) _hoist_tensors_pack ;;
        unpack) _hoist_tensors_unpack ;;
        info) _hoist_tensors_info ;;
        verify) _hoist_tensors_verify ;;
        repair) _hoist_tensors_repair ;;
        bench) _hoist_tensors_bench ;;
      esac
      ;;
  esac
}

_hoist_tensors_pack() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    '(-o --output)'-o'[The .holo file]:OUT:_files' \
    '(-o --output)'--output='[The .holo file]:OUT:_files' \
    --force'[Replace the output where it exists]' \
    --encoding='[How floating-point tensors are encoded]:TEXT:(embedded spectral rph lrdf lossless)' \
    --fragments='[Shards of a group of data]:UINT: ' \
    --parity='[Shards of a group that may be lost]:UINT: ' \
    --order='[What lies together]:TEXT:(layer tensor)' \
    --precision='[Of transforms'\'' coefficients]:TEXT:(f32 f16 bf16)' \
    --seed='[Of permutations and projections]:UINT: ' \
    --rank='[lrdf\: most components]:UINT: ' \
    --essential-share='[spectral\: lowest frequencies that are in every fragment]:FLOAT: ' \
    --digests'[Add BLAKE3 digests and print the root, for readers that trust no source]' \
    --json'[Print as JSON]' \
    '*:IN:_files'
}

_hoist_tensors_unpack() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    '(-o --output)'-o'[A file; for several packed files a folder, or one .safetensors for all tensors]:OUT:_files' \
    '(-o --output)'--output='[A file; for several packed files a folder, or one .safetensors for all tensors]:OUT:_files' \
    --force'[Replace the output where it exists]' \
    --target='[The fewest parts that reach this quality]:FLOAT: ' \
    --layers='[Only this many parts, from the first]:UINT: ' \
    --fragments='[These fragments of spectral, rph or lrdf, as in 0,2-4]:LIST: ' \
    '*'--policy='[Quality of the tensors whose names match, as in '\''*attention.*=0.999@10'\'' (the highest priority counts); --target is for the others]:RULE: ' \
    --min-quality='[Go on without parts that are damaged, as long as each tensor reaches it]:FLOAT: ' \
    --skip-damaged'[Leave out tensors that are damaged beyond repair, and name them]' \
    '*'--source='[A further copy of FILE, used where the first is damaged]:COPY:_files' \
    --json'[Print as JSON]' \
    '1:FILE:_files'
}

_hoist_tensors_info() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --plot='[Draw error over size into an SVG file]:SVG:_files' \
    --packed'[Say what weights that stay packed in memory would take, and gain on this GPU]' \
    --force'[Replace the output where it exists]' \
    --json'[Print as JSON]' \
    '1:FILE:_files'
}

_hoist_tensors_verify() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --json'[Print as JSON]' \
    '*:FILE:_files'
}

_hoist_tensors_repair() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    '(-o --output)'-o'[Where to write it; without it FILE is replaced once the new one is whole]:OUT:_files' \
    '(-o --output)'--output='[Where to write it; without it FILE is replaced once the new one is whole]:OUT:_files' \
    --force'[Replace the output where it exists]' \
    --json'[Print as JSON]' \
    '1:FILE:_files'
}

_hoist_tensors_bench() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --size='[Bytes of weights, as in 256M]:UINT: ' \
    --folder='[Where to put the files, three times the size]:DIR:_files -/' \
    --json'[Print as JSON]' \
    --packed'[Measure weights that stay packed in memory instead\: products on a GPU]'
}

_hoist_records() {
  local curcontext=$curcontext state
  local -a hoist_commands=(
    'encode:Encode text into an .hrec file'
    'append:Add rows to the end of an .hrec file'
    'decode:Give the text back, all of it or some rows'
    'convert:Write records in another format of text'
    'columns:Write columns as arrays for NumPy, or as an Arrow file'
    'info:Say what an .hrec file holds\: bytes a column'
    'verify:Check every byte without decoding'
    'repair:Save the whole rows of a damaged .hrec file'
    'bench:Measure encoding and decoding on this machine'
  )
  _arguments -C \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    '(-)1: :->command' \
    '(-)*:: :->arguments'
  case $state in
    command) _describe command hoist_commands ;;
    arguments)
      case $words[1] in
        encode) _hoist_records_encode ;;
        append) _hoist_records_append ;;
        decode) _hoist_records_decode ;;
        convert) _hoist_records_convert ;;
        columns) _hoist_records_columns ;;
        info) _hoist_records_info ;;
        verify) _hoist_records_verify ;;
        repair) _hoist_records_repair ;;
        bench) _hoist_records_bench ;;
      esac
      ;;
  esac
}

_hoist_records_encode() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    '(-o --output)'-o'[The .hrec file; - is standard output]:OUT:_files' \
    '(-o --output)'--output='[The .hrec file; - is standard output]:OUT:_files' \
    --force'[Replace the output where it exists]' \
    --format='[What the lines are; auto\: by the first of them]:TEXT:(auto json csv pairs symbolic log plain)' \
    --header='[Whether the first line of a CSV has the names of its columns; auto\: by the first lines]:TEXT:(auto yes no)' \
    --best'[Compress texts harder, and several times slower]' \
    --json'[Print as JSON]' \
    '1:IN:_files'
}

_hoist_records_append() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --commit-every='[How long a row of a pipe waits for more before it is committed; 0s\: for 8 MiB a thread]:TIME: ' \
    --best'[Compress texts harder, and several times slower]' \
    --json'[Print as JSON]' \
    '1:IN:_files' \
    '2:FILE:_files'
}

_hoist_records_decode() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    '(-o --output)'-o'[Where to write; - is standard output]:OUT:_files' \
    '(-o --output)'--output='[Where to write; - is standard output]:OUT:_files' \
    --force'[Replace the output where it exists]' \
    --rows='[Rows A to B - 1, counted from 0]:A: ' \
    '*'--where='[Only rows for which this holds, as in '\''timestamp>=1755392220'\''; may be repeated]:CONDITION: ' \
    --to='[A format that the rows are converted to, as `hoist records convert` does; arrow as `hoist records columns` does]:TEXT:(jsonl csv lt lts ltu sym arrow)' \
    --from='[What the rows of FILE are; auto\: what they look like, and what its name says; lines\: each is a record with one key]:TEXT:(auto jsonl csv lt lts ltu sym lines)' \
    --delimiter='[What parts the fields of a CSV in FILE]:CHARACTER: ' \
    --no-header'[FILE is CSV without a header\: its keys are 0, 1, and so on]' \
    --floats'[Arrow\: decimal numbers as float64, the nearest, in place of decimal128]' \
    --skip-unparsed'[Leave out rows that are no records, and say how many; else they are an error]' \
    --keep-text='[Make rows that are no records ones with this key and their text]:KEY: ' \
    '1:FILE:_files'
}

_hoist_records_convert() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    '(-o --output)'-o'[Where to write; - is standard output]:OUT:_files' \
    '(-o --output)'--output='[Where to write; - is standard output]:OUT:_files' \
    --force'[Replace the output where it exists]' \
    --to='[The format; else the end of OUT'\''s name says it]:TEXT:(jsonl csv lt lts ltu sym)' \
    --from='[What the rows of IN are; auto\: what they look like, and what its name says; lines\: each is a record with one key]:TEXT:(auto jsonl csv lt lts ltu sym lines)' \
    --delimiter='[What parts the fields of a CSV in IN]:CHARACTER: ' \
    --no-header'[IN is CSV without a header\: its keys are 0, 1, and so on]' \
    --skip-unparsed'[Leave out rows that are no records, and say how many; else they are an error]' \
    --keep-text='[Make rows that are no records ones with this key and their text]:KEY: ' \
    '1:IN:_files'
}

_hoist_records_columns() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    '*'--select='[Names of columns, with commas between them, those with a comma in double quotes; none\: all, in Arrow]:NAMES: ' \
    '(-o --output)'-o'[The file\: Arrow where it ends in .arrow, an Arrow stream where it ends in .arrows or is -, else .npz]:OUT:_files' \
    '(-o --output)'--output='[The file\: Arrow where it ends in .arrow, an Arrow stream where it ends in .arrows or is -, else .npz]:OUT:_files' \
    --force'[Replace the output where it exists]' \
    --to='[What OUT is, whatever its name]:TEXT:(npz arrow)' \
    --floats'[Arrow\: decimal numbers as float64, the nearest, in place of decimal128]' \
    '1:FILE:_files'
}

_hoist_records_info() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --plot='[Draw what each column takes into an SVG file]:SVG:_files' \
    --force'[Replace the output where it exists]' \
    --json'[Print as JSON]' \
    '1:FILE:_files'
}

_hoist_records_verify() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --json'[Print as JSON]' \
    '*:FILE:_files'
}

_hoist_records_repair() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    '(-o --output)'-o'[The new .hrec file]:OUT:_files' \
    '(-o --output)'--output='[The new .hrec file]:OUT:_files' \
    --force'[Replace the output where it exists]' \
    --json'[Print as JSON]' \
    '1:FILE:_files'
}

_hoist_records_bench() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --size='[Bytes of generated candles, as in 64M]:UINT: ' \
    --rounds='[How often each is measured\: the median counts]:INT: ' \
    --json'[Print as JSON]' \
    '*:FILE:_files'
}

_hoist_bench() {
  _arguments -s -S \
    '(-h --help)'-h'[Print this help message and exit]' \
    '(-h --help)'--help'[Print this help message and exit]' \
    --filter='[Only benchmarks in whose names the regular expression RE is found, and their peers]:RE: ' \
    --quick'[Shorter, once each\: a rough picture]' \
    --list'[Print the names, measure nothing]' \
    --json'[Print Google Benchmark'\''s JSON, with all repetitions]' \
    '*:AREA:(aes codec container device gemm match memcpy placement qsort radix_sort records tensors)'
}

_hoist "$@"
