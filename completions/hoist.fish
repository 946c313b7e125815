# Fish completion for hoist(1). Written by scripts/command-table: change src/cli or that script.

set -g __hoist_paths 'run' 'top' 'options' 'doctor' 'learn-program' 'version' 'help' 'tune' 'explain' 'container' 'container info' 'container verify' 'container repair' 'match' 'match build' 'match query' 'match learn' 'match delete' 'match show' 'match sync' 'match stats' 'match verify' 'match repair' 'match dedup' 'match grep' 'match bench' 'px' 'px check' 'px run' 'px build' 'px emit' 'px fmt' 'graph' 'graph show' 'graph run' 'graph canon' 'graph eval' 'tensors' 'tensors pack' 'tensors unpack' 'tensors info' 'tensors verify' 'tensors repair' 'tensors bench' 'records' 'records encode' 'records append' 'records decode' 'records convert' 'records columns' 'records info' 'records verify' 'bench' 'sort' 'md5sum' 'sha1sum' 'sha224sum' 'sha256sum' 'sha384sum' 'sha512sum' 'b2sum' 'cksum' 'gzip' 'gunzip' 'zcat'
set -g __hoist_engines sort md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum gzip gunzip zcat
set -g __hoist_run_values --ops --verify

# The command that the words before the cursor name: "match query", or "" for hoist itself.
function __hoist_path
    set -l path
    for word in (commandline -opc)[2..-1]
        set -l next (string trim "$path $word")
        contains -- "$next" $__hoist_paths; or break
        set path $next
        contains -- "$path" $__hoist_engines run help; and break
    end
    echo "$path"
end

# Where the program of `hoist run` or an engine stands, counted from 1. Fails where none is yet.
function __hoist_program_at
    set -l words (commandline -opc) (commandline -ct)
    set -l path (__hoist_path)
    if contains -- "$path" $__hoist_engines
        echo 2
        return
    end
    test "$path" = run; or return 1
    set -l at 3
    while test $at -le (count $words)
        switch $words[$at]
            case --
                test $at -lt (count $words); or return 1
                echo (math $at + 1)
                return
            case '-*'
                contains -- $words[$at] $__hoist_run_values; and set at (math $at + 1)
            case '*'
                echo $at
                return
        end
        set at (math $at + 1)
    end
    return 1
end

function __hoist_is
    test (__hoist_path) = "$argv[1]"; and not __hoist_program_at >/dev/null
end

# What completes the program, or its arguments, as if hoist were not there.
function __hoist_program
    set -l at (__hoist_program_at); or return
    set -l words (commandline -opc) (commandline -ct)
    complete -C (string join ' ' -- (string escape -- $words[$at..-2]) $words[-1])
end

complete -c hoist -f
complete -c hoist -n '__hoist_program_at >/dev/null' -a '(__hoist_program)'
complete -c hoist -n '__hoist_is ""' -a run -d 'Run a program with its heavy work taken over'
complete -c hoist -n '__hoist_is ""' -a top -d 'Show the live counters of running programs'
complete -c hoist -n '__hoist_is ""' -a options -d 'Print the options that the environment sets'
complete -c hoist -n '__hoist_is ""' -a doctor -d 'Say what is on, and why the rest is off'
complete -c hoist -n '__hoist_is ""' -a learn-program -d 'Check the engine against a program\'s build, and make that build known'
complete -c hoist -n '__hoist_is ""' -a version -d 'Print the version'
complete -c hoist -n '__hoist_is ""' -a help -d 'Show a guide, or the help of a command'
complete -c hoist -n '__hoist_is ""' -a tune -d 'Measure what runs fastest where on this machine'
complete -c hoist -n '__hoist_is ""' -a explain -d 'Say what placement chooses for an operation, and why'
complete -c hoist -n '__hoist_is ""' -a container -d 'Look into, verify or repair a container file'
complete -c hoist -n '__hoist_is ""' -a match -d 'Search exactly for similar patterns: build, query, learn, dedup'
complete -c hoist -n '__hoist_is ""' -a px -d 'Kernels written once, for CPU and GPU: check, run, build'
complete -c hoist -n '__hoist_is ""' -a graph -d 'Tensor programs: show, run; circuits: canonical texts, bytes'
complete -c hoist -n '__hoist_is ""' -a tensors -d 'Pack model weights so that they load progressively, and back'
complete -c hoist -n '__hoist_is ""' -a records -d 'Encode text of records into columns, and back'
complete -c hoist -n '__hoist_is ""' -a bench -d 'Measure the parts of Hoist beside their peers'
complete -c hoist -n '__hoist_is ""' -a sort -d 'The engine that replaces sort'
complete -c hoist -n '__hoist_is ""' -a md5sum -d 'The engine that replaces md5sum'
complete -c hoist -n '__hoist_is ""' -a sha1sum -d 'The engine that replaces sha1sum'
complete -c hoist -n '__hoist_is ""' -a sha224sum -d 'The engine that replaces sha224sum'
complete -c hoist -n '__hoist_is ""' -a sha256sum -d 'The engine that replaces sha256sum'
complete -c hoist -n '__hoist_is ""' -a sha384sum -d 'The engine that replaces sha384sum'
complete -c hoist -n '__hoist_is ""' -a sha512sum -d 'The engine that replaces sha512sum'
complete -c hoist -n '__hoist_is ""' -a b2sum -d 'The engine that replaces b2sum'
complete -c hoist -n '__hoist_is ""' -a cksum -d 'The engine that replaces cksum'
complete -c hoist -n '__hoist_is ""' -a gzip -d 'The engine that replaces gzip'
complete -c hoist -n '__hoist_is ""' -a gunzip -d 'gzip -d'
complete -c hoist -n '__hoist_is ""' -a zcat -d 'gzip -cd'
complete -c hoist -n '__hoist_is ""' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is ""' -s V -l version -d 'Print the version'
complete -c hoist -n '__hoist_is "run"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "run"' -l ops -x -a 'sort hash gunzip crc32 inflate qsort memcpy aes zstd deflate gemm -sort -hash -gunzip -crc32 -inflate -qsort +memcpy +aes -zstd +deflate -gemm' -d 'Operations: NAME,… or +NAME or -NAME'
complete -c hoist -n '__hoist_is "run"' -l stats -d 'Say what ran where: on standard error, or as JSON into FILE'
complete -c hoist -n '__hoist_is "run"' -l verify -x -d 'Replay this share of the calls on the original and compare'
complete -c hoist -n '__hoist_is "run"' -l explain -d 'Say for each program why, on standard error'
complete -c hoist -n '__hoist_is "top"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "top"' -l once -d 'Print once and end'
complete -c hoist -n '__hoist_is "top"' -l json -d 'Print as JSON'
complete -c hoist -n '__hoist_is "top"' -l interval -x -d 'Seconds between two looks'
complete -c hoist -n '__hoist_is "options"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "options"' -l json -d 'Print as JSON'
complete -c hoist -n '__hoist_is "doctor"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "doctor"' -l json -d 'Print as JSON'
complete -c hoist -n '__hoist_is "learn-program"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "learn-program"' -l check -d 'Only check'
complete -c hoist -n '__hoist_is "learn-program"' -l json -d 'Print as JSON'
complete -c hoist -n '__hoist_is "learn-program"' -F
complete -c hoist -n '__hoist_is "version"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "help"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "help"' -l no-pager -d 'Print a guide without a pager'
complete -c hoist -n '__hoist_is "help"' -a 'run top options doctor learn-program version help tune explain container match px graph tensors records bench sort md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum gzip gunzip zcat install first-steps sort-and-checksums models search records px graph graph-programs python c cxx troubleshooting'
complete -c hoist -n '__hoist_is "tune"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "tune"' -l quick -d 'Fewer and smaller sizes: less than a minute'
complete -c hoist -n '__hoist_is "tune"' -l op -x -a 'sort hash gunzip qsort gemm aes crc32 px' -d 'Only this OPERATION or OPERATION/VARIANT'
complete -c hoist -n '__hoist_is "tune"' -l seconds -x -d 'Time to take: 48 for --quick, else 480'
complete -c hoist -n '__hoist_is "tune"' -l refine -d 'Measure nothing: fold the noted timings of real runs into the profile'
complete -c hoist -n '__hoist_is "tune"' -l force -d 'Replace earlier measurements even where the new ones scatter'
complete -c hoist -n '__hoist_is "tune"' -l json -d 'Print as JSON'
complete -c hoist -n '__hoist_is "explain"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "explain"' -l plot -r -F -d 'Draw predicted time over size into an SVG file'
complete -c hoist -n '__hoist_is "explain"' -l force -d 'Replace the output where it exists'
complete -c hoist -n '__hoist_is "explain"' -l cpus -x -d 'Assume this number of free CPUs, not the number that is free now'
complete -c hoist -n '__hoist_is "explain"' -l measured -d 'What was measured at each size, and what the choice costs over the fastest'
complete -c hoist -n '__hoist_is "explain"' -l json -d 'Print as JSON'
complete -c hoist -n '__hoist_is "explain"' -a 'sort hash gunzip qsort gemm aes crc32 px'
complete -c hoist -n '__hoist_is "container"' -a info -d 'Say what a container holds'
complete -c hoist -n '__hoist_is "container"' -a verify -d 'Check every byte without decoding'
complete -c hoist -n '__hoist_is "container"' -a repair -d 'Save what is intact into a new file; the old one is only read'
complete -c hoist -n '__hoist_is "container"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "container info"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "container info"' -l blocks -d 'List the blocks'
complete -c hoist -n '__hoist_is "container info"' -l json -d 'Print as JSON'
complete -c hoist -n '__hoist_is "container info"' -F
complete -c hoist -n '__hoist_is "container verify"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "container verify"' -l json -d 'Print as JSON'
complete -c hoist -n '__hoist_is "container verify"' -F
complete -c hoist -n '__hoist_is "container repair"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "container repair"' -s o -l output -r -F -d 'The new container'
complete -c hoist -n '__hoist_is "container repair"' -l force -d 'Replace the output where it exists'
complete -c hoist -n '__hoist_is "container repair"' -l json -d 'Print as JSON'
complete -c hoist -n '__hoist_is "container repair"' -F
complete -c hoist -n '__hoist_is "match"' -a build -d 'Build an index of the patterns of a file'
complete -c hoist -n '__hoist_is "match"' -a query -d 'Find the patterns that resemble a state'
complete -c hoist -n '__hoist_is "match"' -a learn -d 'Learn the patterns of a file'
complete -c hoist -n '__hoist_is "match"' -a delete -d 'Remove patterns'
complete -c hoist -n '__hoist_is "match"' -a show -d 'Print patterns and what is known of them'
complete -c hoist -n '__hoist_is "match"' -a sync -d 'Lay out what was learned and save the snapshot'
complete -c hoist -n '__hoist_is "match"' -a stats -d 'Say what an index holds'
complete -c hoist -n '__hoist_is "match"' -a verify -d 'Compare memory, snapshot and store'
complete -c hoist -n '__hoist_is "match"' -a repair -d 'Make a new index of what is whole in a damaged one'
complete -c hoist -n '__hoist_is "match"' -a dedup -d 'Print all pairs of lines that are alike'
complete -c hoist -n '__hoist_is "match"' -a grep -d 'Print the lines of files that resemble a line'
complete -c hoist -n '__hoist_is "match"' -a bench -d 'Measure learning, queries, sync and opening'
complete -c hoist -n '__hoist_is "match"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "match build"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "match build"' -s i -l input -r -F -d 'The patterns; - is standard input'
complete -c hoist -n '__hoist_is "match build"' -s o -l output -x -a '(__fish_complete_directories)' -d 'The new index, a folder'
complete -c hoist -n '__hoist_is "match build"' -l force -d 'Replace an index that is there'
complete -c hoist -n '__hoist_is "match build"' -l format -x -a 'jsonl lines' -d 'jsonl, or lines: words, each an event of its own'
complete -c hoist -n '__hoist_is "match build"' -l no-sort -d 'Keep the order of the symbols inside events'
complete -c hoist -n '__hoist_is "match build"' -l no-store -d 'Search-only: nothing can be learned later'
complete -c hoist -n '__hoist_is "match build"' -l max-memory -x -d 'Refuse an index that takes more memory: 800M, 2G'
complete -c hoist -n '__hoist_is "match query"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "match query"' -l state -x -d 'A list of events, as JSON'
complete -c hoist -n '__hoist_is "match query"' -l states -r -F -d 'A file with a state on each line; - is standard input'
complete -c hoist -n '__hoist_is "match query"' -l threshold -x -d 'The least similarity, 0 to 1'
complete -c hoist -n '__hoist_is "match query"' -l top -x -d 'Number of results (0 = all)'
complete -c hoist -n '__hoist_is "match query"' -l scorer -x -a 'kato lcs indel levenshtein difflib difflib-autojunk' -d 'kato, lcs, indel, levenshtein, difflib or difflib-autojunk'
complete -c hoist -n '__hoist_is "match query"' -l rank -x -d 'kato: the key by which records are ranked'
complete -c hoist -n '__hoist_is "match query"' -l fuzzy -x -d 'kato: let symbols match that are alike, 0 to 1'
complete -c hoist -n '__hoist_is "match query"' -l no-sort -d 'The order inside events counts: for an index built so'
complete -c hoist -n '__hoist_is "match query"' -l show -d 'Print the patterns\' text, too'
complete -c hoist -n '__hoist_is "match query"' -l json -d 'Print an array of records'
complete -c hoist -n '__hoist_is "match query"' -l jsonl -d 'Print a record, or with --states an array, a line'
complete -c hoist -n '__hoist_is "match query"' -l max-memory -x -d 'Refuse an index that takes more memory: 800M, 2G'
complete -c hoist -n '__hoist_is "match query"' -l device -x -a 'auto cpu cuda:0' -d 'Where to search: cpu, cuda:N, cuda:N,cuda:M, or auto: a GPU once it pays'
complete -c hoist -n '__hoist_is "match query"' -a '(__fish_complete_directories)'
complete -c hoist -n '__hoist_is "match learn"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "match learn"' -s i -l input -r -F -d 'The patterns; - is standard input'
complete -c hoist -n '__hoist_is "match learn"' -l format -x -a 'jsonl lines' -d 'jsonl, or lines: words, each an event of its own'
complete -c hoist -n '__hoist_is "match learn"' -l durability -x -a 'batch sync' -d 'batch: survives a kill; sync: also a power cut'
complete -c hoist -n '__hoist_is "match learn"' -l max-memory -x -d 'Refuse an index that takes more memory: 800M, 2G'
complete -c hoist -n '__hoist_is "match learn"' -a '(__fish_complete_directories)'
complete -c hoist -n '__hoist_is "match delete"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "match delete"' -a '(__fish_complete_directories)'
complete -c hoist -n '__hoist_is "match show"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "match show"' -l json -d 'Print as JSON'
complete -c hoist -n '__hoist_is "match show"' -a '(__fish_complete_directories)'
complete -c hoist -n '__hoist_is "match sync"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "match sync"' -a '(__fish_complete_directories)'
complete -c hoist -n '__hoist_is "match stats"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "match stats"' -l json -d 'Print as JSON'
complete -c hoist -n '__hoist_is "match stats"' -a '(__fish_complete_directories)'
complete -c hoist -n '__hoist_is "match verify"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "match verify"' -l json -d 'Print as JSON'
complete -c hoist -n '__hoist_is "match verify"' -a '(__fish_complete_directories)'
complete -c hoist -n '__hoist_is "match repair"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "match repair"' -s o -l output -x -a '(__fish_complete_directories)' -d 'The new index, a folder'
complete -c hoist -n '__hoist_is "match repair"' -l force -d 'Replace an index that is there'
complete -c hoist -n '__hoist_is "match repair"' -l json -d 'Print as JSON'
complete -c hoist -n '__hoist_is "match repair"' -a '(__fish_complete_directories)'
complete -c hoist -n '__hoist_is "match dedup"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "match dedup"' -l threshold -x -d 'The least similarity, 0 to 1'
complete -c hoist -n '__hoist_is "match dedup"' -l format -x -a 'jsonl lines' -d 'jsonl, or lines: words, each an event of its own'
complete -c hoist -n '__hoist_is "match dedup"' -l scorer -x -a 'kato lcs indel levenshtein difflib difflib-autojunk' -d 'kato, lcs, indel, levenshtein, difflib or difflib-autojunk'
complete -c hoist -n '__hoist_is "match dedup"' -l no-sort -d 'Keep the order of the symbols inside events'
complete -c hoist -n '__hoist_is "match dedup"' -l jsonl -d 'Print an object a line'
complete -c hoist -n '__hoist_is "match dedup"' -F
complete -c hoist -n '__hoist_is "match grep"' -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "match grep"' -l scorer -x -a 'indel levenshtein lcs' -d 'indel, levenshtein or lcs'
complete -c hoist -n '__hoist_is "match grep"' -l threshold -x -d 'The least similarity, 0 to 1'
complete -c hoist -n '__hoist_is "match grep"' -s k -l top -x -d 'Only the N best lines, best first (0 = all)'
complete -c hoist -n '__hoist_is "match grep"' -s r -l recursive -d 'Search the files of folders'
complete -c hoist -n '__hoist_is "match grep"' -s i -l ignore-case -d 'Upper and lower case are the same'
complete -c hoist -n '__hoist_is "match grep"' -s v -l invert-match -d 'The lines that do not resemble it'
complete -c hoist -n '__hoist_is "match grep"' -s c -l count -d 'Print the number of lines of each file'
complete -c hoist -n '__hoist_is "match grep"' -s n -l line-number -d 'Print line numbers'
complete -c hoist -n '__hoist_is "match grep"' -s H -l with-filename -d 'Print names of files'
complete -c hoist -n '__hoist_is "match grep"' -s h -l no-filename -d 'Print no names of files'
complete -c hoist -n '__hoist_is "match grep"' -s A -l after-context -x -d 'Print N lines behind each one, too'
complete -c hoist -n '__hoist_is "match grep"' -s B -l before-context -x -d 'Print N lines before each one, too'
complete -c hoist -n '__hoist_is "match grep"' -s C -l context -x -d 'Both'
complete -c hoist -n '__hoist_is "match grep"' -l color -x -a 'auto always never' -d 'Colour what a line has in common with PATTERN'
complete -c hoist -n '__hoist_is "match grep"' -l json -d 'Print an object a line, with the similarity'
complete -c hoist -n '__hoist_is "match bench"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "match bench"' -l patterns -x -d 'Number of patterns'
complete -c hoist -n '__hoist_is "match bench"' -l length -x -d 'Symbols in each pattern'
complete -c hoist -n '__hoist_is "match bench"' -l symbols -x -d 'Different symbols, Zipf-distributed'
complete -c hoist -n '__hoist_is "match bench"' -l device -x -a 'auto cpu cuda:0' -d 'Where to search: cpu, cuda:N, cuda:N,cuda:M, or auto: a GPU once it pays'
complete -c hoist -n '__hoist_is "match bench"' -l json -d 'Print as JSON'
complete -c hoist -n '__hoist_is "px"' -a check -d 'Report errors and warnings'
complete -c hoist -n '__hoist_is "px"' -a run -d 'Run the launches of a file'
complete -c hoist -n '__hoist_is "px"' -a build -d 'Write C++ and CUDA sources that need nothing of Hoist'
complete -c hoist -n '__hoist_is "px"' -a emit -d 'Print what a stage of the compiler makes'
complete -c hoist -n '__hoist_is "px"' -a fmt -d 'Lay files out, in place'
complete -c hoist -n '__hoist_is "px"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "px check"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "px check"' -l json -d 'Print them as JSON'
complete -c hoist -n '__hoist_is "px check"' -F
complete -c hoist -n '__hoist_is "px run"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "px run"' -l in -x -d 'Read an array, .npy or raw'
complete -c hoist -n '__hoist_is "px run"' -l out -x -d 'Write an array, .npy or raw'
complete -c hoist -n '__hoist_is "px run"' -l set -x -d 'Give a scalar its value'
complete -c hoist -n '__hoist_is "px run"' -l len -x -d 'Begin with an array of N zeros'
complete -c hoist -n '__hoist_is "px run"' -l target -x -a 'auto cpu cuda interpreter' -d 'Where to run it; auto: a GPU where it pays'
complete -c hoist -n '__hoist_is "px run"' -l check-bounds -d 'Find accesses beyond an array\'s end, which is done unless the next one is given'
complete -c hoist -n '__hoist_is "px run"' -l no-check-bounds -d 'Leave these checks out'
complete -c hoist -n '__hoist_is "px run"' -l time -d 'Print how long compiling, copies and launches took'
complete -c hoist -n '__hoist_is "px run"' -l explain -d 'Only print where it would run, and why'
complete -c hoist -n '__hoist_is "px run"' -l json -d 'Print times and arrays as JSON'
complete -c hoist -n '__hoist_is "px run"' -l force -d 'Replace the output where it exists'
complete -c hoist -n '__hoist_is "px run"' -F
complete -c hoist -n '__hoist_is "px build"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "px build"' -s o -l output -x -d 'Where NAME.h, NAME.cc and NAME.cu go'
complete -c hoist -n '__hoist_is "px build"' -l lib -d 'Compile NAME.cc, too: libNAME.so'
complete -c hoist -n '__hoist_is "px build"' -l force -d 'Replace the output where it exists'
complete -c hoist -n '__hoist_is "px build"' -F
complete -c hoist -n '__hoist_is "px emit"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "px emit"' -l stage -x -a 'ast ir cuda cpp ptx' -d 'The stage'
complete -c hoist -n '__hoist_is "px emit"' -l check-bounds -d 'With the checks of every access'
complete -c hoist -n '__hoist_is "px emit"' -F
complete -c hoist -n '__hoist_is "px fmt"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "px fmt"' -l check -d 'Only name the files that would change'
complete -c hoist -n '__hoist_is "px fmt"' -F
complete -c hoist -n '__hoist_is "graph"' -a show -d 'Say how a tensor program is fused, and draw it'
complete -c hoist -n '__hoist_is "graph"' -a run -d 'Run a tensor program on arrays of files'
complete -c hoist -n '__hoist_is "graph"' -a canon -d 'Print the canonical text of a circuit'
complete -c hoist -n '__hoist_is "graph"' -a eval -d 'Print the bytes, addresses and words of a circuit'
complete -c hoist -n '__hoist_is "graph"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "graph show"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "graph show"' -s o -r -F -d 'Draw the nodes, grouped by kernel, into an SVG file'
complete -c hoist -n '__hoist_is "graph show"' -l force -d 'Replace the output where it exists'
complete -c hoist -n '__hoist_is "graph show"' -l fast-math -d 'Allow what rounds otherwise, or is wrong for infinities, NaN or -0'
complete -c hoist -n '__hoist_is "graph show"' -l json -d 'Print as JSON'
complete -c hoist -n '__hoist_is "graph show"' -F
complete -c hoist -n '__hoist_is "graph run"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "graph run"' -l in -x -d 'Read an input, .npy or raw'
complete -c hoist -n '__hoist_is "graph run"' -l out -x -d 'Write an output, .npy or raw'
complete -c hoist -n '__hoist_is "graph run"' -l force -d 'Replace the output where it exists'
complete -c hoist -n '__hoist_is "graph run"' -l fast-math -d 'Allow what rounds otherwise, or is wrong for infinities, NaN or -0'
complete -c hoist -n '__hoist_is "graph run"' -F
complete -c hoist -n '__hoist_is "graph canon"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "graph canon"' -l file -r -F -d 'Read the circuit from there'
complete -c hoist -n '__hoist_is "graph canon"' -l grammar -x -a 'compiler spec' -d 'compiler: copy names source and destination; spec: it names one class'
complete -c hoist -n '__hoist_is "graph canon"' -l gates -d 'Marks and copies of some classes are gates where nothing reads what they would write, unless the next one is given'
complete -c hoist -n '__hoist_is "graph canon"' -l no-gates -d 'All are operations on memory'
complete -c hoist -n '__hoist_is "graph canon"' -l json -d 'Print it as JSON, with the rules that were used'
complete -c hoist -n '__hoist_is "graph eval"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "graph eval"' -l file -r -F -d 'Read the circuit from there'
complete -c hoist -n '__hoist_is "graph eval"' -l grammar -x -a 'compiler spec' -d 'compiler: copy names source and destination; spec: it names one class'
complete -c hoist -n '__hoist_is "graph eval"' -l json -d 'Print them as JSON'
complete -c hoist -n '__hoist_is "tensors"' -a pack -d 'Pack model files into a .holo file'
complete -c hoist -n '__hoist_is "tensors"' -a unpack -d 'Give the packed files back, whole or roughly'
complete -c hoist -n '__hoist_is "tensors"' -a info -d 'Say what a .holo file holds, and how good it is'
complete -c hoist -n '__hoist_is "tensors"' -a verify -d 'Check every byte without decoding'
complete -c hoist -n '__hoist_is "tensors"' -a repair -d 'Rewrite a damaged file from its parity, as it was'
complete -c hoist -n '__hoist_is "tensors"' -a bench -d 'Measure packing and loading on this machine'
complete -c hoist -n '__hoist_is "tensors"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "tensors pack"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "tensors pack"' -s o -l output -r -F -d 'The .holo file'
complete -c hoist -n '__hoist_is "tensors pack"' -l force -d 'Replace the output where it exists'
complete -c hoist -n '__hoist_is "tensors pack"' -l encoding -x -a 'embedded spectral rph lrdf lossless' -d 'How floating-point tensors are encoded'
complete -c hoist -n '__hoist_is "tensors pack"' -l fragments -x -d 'Shards of a group of data'
complete -c hoist -n '__hoist_is "tensors pack"' -l parity -x -d 'Shards of a group that may be lost'
complete -c hoist -n '__hoist_is "tensors pack"' -l order -x -a 'layer tensor' -d 'What lies together'
complete -c hoist -n '__hoist_is "tensors pack"' -l precision -x -a 'f32 f16 bf16' -d 'Of transforms\' coefficients'
complete -c hoist -n '__hoist_is "tensors pack"' -l seed -x -d 'Of permutations and projections'
complete -c hoist -n '__hoist_is "tensors pack"' -l rank -x -d 'lrdf: most components'
complete -c hoist -n '__hoist_is "tensors pack"' -l essential-share -x -d 'spectral: lowest frequencies that are in every fragment'
complete -c hoist -n '__hoist_is "tensors pack"' -l digests -d 'Add BLAKE3 digests and print the root, for readers that trust no source'
complete -c hoist -n '__hoist_is "tensors pack"' -l json -d 'Print as JSON'
complete -c hoist -n '__hoist_is "tensors pack"' -F
complete -c hoist -n '__hoist_is "tensors unpack"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "tensors unpack"' -s o -l output -r -F -d 'A file; for several packed files a folder, or one .safetensors for all tensors'
complete -c hoist -n '__hoist_is "tensors unpack"' -l force -d 'Replace the output where it exists'
complete -c hoist -n '__hoist_is "tensors unpack"' -l target -x -d 'The fewest parts that reach this quality'
complete -c hoist -n '__hoist_is "tensors unpack"' -l layers -x -d 'Only this many parts, from the first'
complete -c hoist -n '__hoist_is "tensors unpack"' -l fragments -x -d 'These fragments of spectral, rph or lrdf, as in 0,2-4'
complete -c hoist -n '__hoist_is "tensors unpack"' -l policy -x -d 'Quality of the tensors whose names match, as in \'*attention.*=0.999@10\' (the highest priority counts); --target is for the others'
complete -c hoist -n '__hoist_is "tensors unpack"' -l min-quality -x -d 'Go on without parts that are damaged, as long as each tensor reaches it'
complete -c hoist -n '__hoist_is "tensors unpack"' -l skip-damaged -d 'Leave out tensors that are damaged beyond repair, and name them'
complete -c hoist -n '__hoist_is "tensors unpack"' -l source -r -F -d 'A further copy of FILE, used where the first is damaged'
complete -c hoist -n '__hoist_is "tensors unpack"' -l json -d 'Print as JSON'
complete -c hoist -n '__hoist_is "tensors unpack"' -F
complete -c hoist -n '__hoist_is "tensors info"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "tensors info"' -l plot -r -F -d 'Draw error over size into an SVG file'
complete -c hoist -n '__hoist_is "tensors info"' -l force -d 'Replace the output where it exists'
complete -c hoist -n '__hoist_is "tensors info"' -l json -d 'Print as JSON'
complete -c hoist -n '__hoist_is "tensors info"' -F
complete -c hoist -n '__hoist_is "tensors verify"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "tensors verify"' -l json -d 'Print as JSON'
complete -c hoist -n '__hoist_is "tensors verify"' -F
complete -c hoist -n '__hoist_is "tensors repair"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "tensors repair"' -s o -l output -r -F -d 'Where to write it; without it FILE is replaced once the new one is whole'
complete -c hoist -n '__hoist_is "tensors repair"' -l force -d 'Replace the output where it exists'
complete -c hoist -n '__hoist_is "tensors repair"' -l json -d 'Print as JSON'
complete -c hoist -n '__hoist_is "tensors repair"' -F
complete -c hoist -n '__hoist_is "tensors bench"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "tensors bench"' -l size -x -d 'Bytes of weights, as in 256M'
complete -c hoist -n '__hoist_is "tensors bench"' -l folder -x -a '(__fish_complete_directories)' -d 'Where to put the files, three times the size'
complete -c hoist -n '__hoist_is "tensors bench"' -l json -d 'Print as JSON'
complete -c hoist -n '__hoist_is "records"' -a encode -d 'Encode text into an .hrec file'
complete -c hoist -n '__hoist_is "records"' -a append -d 'Add rows to the end of an .hrec file'
complete -c hoist -n '__hoist_is "records"' -a decode -d 'Give the text back, all of it or some rows'
complete -c hoist -n '__hoist_is "records"' -a convert -d 'Write records in another format of text'
complete -c hoist -n '__hoist_is "records"' -a columns -d 'Write columns as arrays for NumPy'
complete -c hoist -n '__hoist_is "records"' -a info -d 'Say what an .hrec file holds: bytes a column'
complete -c hoist -n '__hoist_is "records"' -a verify -d 'Check every byte without decoding'
complete -c hoist -n '__hoist_is "records"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "records encode"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "records encode"' -s o -l output -r -F -d 'The .hrec file'
complete -c hoist -n '__hoist_is "records encode"' -l force -d 'Replace the output where it exists'
complete -c hoist -n '__hoist_is "records encode"' -l format -x -a 'auto json csv pairs symbolic log plain' -d 'What the lines are; auto: by the first of them'
complete -c hoist -n '__hoist_is "records encode"' -l best -d 'Compress texts harder, and several times slower'
complete -c hoist -n '__hoist_is "records encode"' -l json -d 'Print as JSON'
complete -c hoist -n '__hoist_is "records encode"' -F
complete -c hoist -n '__hoist_is "records append"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "records append"' -l best -d 'Compress texts harder, and several times slower'
complete -c hoist -n '__hoist_is "records append"' -l json -d 'Print as JSON'
complete -c hoist -n '__hoist_is "records append"' -F
complete -c hoist -n '__hoist_is "records decode"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "records decode"' -s o -l output -r -F -d 'Where to write; - is standard output'
complete -c hoist -n '__hoist_is "records decode"' -l force -d 'Replace the output where it exists'
complete -c hoist -n '__hoist_is "records decode"' -l rows -x -d 'Rows A to B - 1, counted from 0'
complete -c hoist -n '__hoist_is "records decode"' -l where -x -d 'Only rows for which this holds, as in \'timestamp>=1755392220\'; may be repeated'
complete -c hoist -n '__hoist_is "records decode"' -l to -x -a 'jsonl csv lt lts ltu sym' -d 'A format that the rows are converted to, as `hoist records convert` does'
complete -c hoist -n '__hoist_is "records decode"' -l skip-unparsed -d 'Leave out rows that are no records, and say how many; else they are an error'
complete -c hoist -n '__hoist_is "records decode"' -l keep-text -x -d 'Make rows that are no records ones with this key and their text'
complete -c hoist -n '__hoist_is "records decode"' -F
complete -c hoist -n '__hoist_is "records convert"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "records convert"' -s o -l output -r -F -d 'Where to write; - is standard output'
complete -c hoist -n '__hoist_is "records convert"' -l force -d 'Replace the output where it exists'
complete -c hoist -n '__hoist_is "records convert"' -l to -x -a 'jsonl csv lt lts ltu sym' -d 'The format; else the end of OUT\'s name says it'
complete -c hoist -n '__hoist_is "records convert"' -l from -x -a 'auto jsonl csv lt lts ltu sym' -d 'What IN is in; auto: by the end of its name, or by its first lines'
complete -c hoist -n '__hoist_is "records convert"' -l delimiter -x -d 'What parts the fields of a CSV in IN'
complete -c hoist -n '__hoist_is "records convert"' -l no-header -d 'IN is CSV without a header: its keys are 0, 1, and so on'
complete -c hoist -n '__hoist_is "records convert"' -l skip-unparsed -d 'Leave out rows that are no records, and say how many; else they are an error'
complete -c hoist -n '__hoist_is "records convert"' -l keep-text -x -d 'Make rows that are no records ones with this key and their text'
complete -c hoist -n '__hoist_is "records convert"' -F
complete -c hoist -n '__hoist_is "records columns"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "records columns"' -l select -x -d 'Names of columns, with commas between them'
complete -c hoist -n '__hoist_is "records columns"' -s o -l output -r -F -d 'The .npz file'
complete -c hoist -n '__hoist_is "records columns"' -l force -d 'Replace the output where it exists'
complete -c hoist -n '__hoist_is "records columns"' -F
complete -c hoist -n '__hoist_is "records info"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "records info"' -l json -d 'Print as JSON'
complete -c hoist -n '__hoist_is "records info"' -F
complete -c hoist -n '__hoist_is "records verify"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "records verify"' -l json -d 'Print as JSON'
complete -c hoist -n '__hoist_is "records verify"' -F
complete -c hoist -n '__hoist_is "bench"' -s h -l help -d 'Print this help message and exit'
complete -c hoist -n '__hoist_is "bench"' -l filter -x -d 'Only benchmarks in whose names the regular expression RE is found, and their peers'
complete -c hoist -n '__hoist_is "bench"' -l quick -d 'Shorter, once each: a rough picture'
complete -c hoist -n '__hoist_is "bench"' -l list -d 'Print the names, measure nothing'
complete -c hoist -n '__hoist_is "bench"' -l json -d 'Print Google Benchmark\'s JSON, with all repetitions'
complete -c hoist -n '__hoist_is "bench"' -a 'aes codec container device gemm match memcpy placement qsort radix_sort records tensors'
