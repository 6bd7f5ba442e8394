#!/bin/bash
# Checks that every file and folder that the documents name is there: "src/sim/{engine,cpu}", "src/exec/*_run.cpp", and what
# their links lead to: "](memory.md#peaks)".
# usage: check_paths.sh REPOSITORY
set -u
cd "${1:-.}" || exit 2
shopt -s nullglob
problems=0
for document in ARCHITECTURE.md README.md CONTRIBUTING.md docs/*.md tests/README.md; do
    while IFS=: read -r line token; do
        token=${token%%[.,/]}
        # The pattern below lets nothing through that a shell would run.
        eval "paths=($token)"
        for path in "${paths[@]:-}"; do
            [ -n "$path" ] && [ -e "$path" ] && continue
            echo "$document:$line: no $token"
            problems=1
            break
        done
    done < <(grep -noP '(?<![\w/.-])(src|tests|tools|bench|cmake)/[A-Za-z0-9_./{},*-]*[A-Za-z0-9_}*/-]' "$document")
    while IFS=: read -r line link; do
        link=${link#](}
        link=${link%%[#)]*}
        [ -z "$link" ] || [ -e "$(dirname "$document")/$link" ] || { echo "$document:$line: no $link"; problems=1; }
    done < <(grep -noP '\]\((?!https?:|mailto:)[^)\s]+\)' "$document")
done
exit $problems
