# Languages whose numbers have a comma (German) and whose i is not the I of others (Turkish), and none at all.
for language in C POSIX xx_XX.UTF-8; do
    surrounding=(env "LC_ALL=$language" "LANG=$language")
    expect_same predict train
done

export LOCPATH=$scratch/locales
mkdir "$LOCPATH"
for language in tr_TR de_DE; do
    localedef -i "$language" -f UTF-8 "$LOCPATH/$language.UTF-8" 2>/dev/null || skip "no sources of locales, or no localedef; C and POSIX were tried"
done
[[ $(LC_ALL=de_DE.UTF-8 printf '%.1f' 2,5 2>/dev/null) == 2,5 ]] || complain "numbers have no comma in de_DE; there is nothing to test"
for language in de_DE.UTF-8 tr_TR.UTF-8; do
    surrounding=(env -u LC_ALL "LANG=$language")
    expect_same predict train checkpoint
    surrounding=(env "LC_ALL=$language" "LANG=$language")
    expect_same scale prepare compare
    LC_ALL=$language ./quickstart --install-only >/dev/null || complain "quickstart --install-only fails in $language"
done
if ((EUID == 0)) && [[ $(tools/netlab status) == down ]]; then
    finish='tools/netlab down'
    up=(tools/netlab up --nodes 2 --slots 1 --rate 0.5gbit)
    ! LC_ALL=C "${up[@]}" >/dev/null 2>&1 || LC_ALL=de_DE.UTF-8 "${up[@]}" >/dev/null || complain "netlab does not come up in German"
fi
