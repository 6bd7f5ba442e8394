# No terminal, nothing to read from, nowhere to write to.
surrounding=(setsid --wait bash -c 'exec "$@" <&-' -)
expect_same predict train checkpoint compare
surrounding=(bash -c 'exec "$@" <&- 2>&-' -)
expect_same predict train
[[ -c /dev/full ]] || skip "no /dev/full"
surrounding=(bash -c 'exec "$@" >/dev/full' -)
lost="auspex: failed: the output could not be written"
expect_refusal 1 "$lost" "$auspex" predict --machine "$machine" --stack auspex "${toy[@]}"
expect_refusal 1 "$lost" "$auspex" data show --data "$scratch/data"
expect_refusal 1 "$lost" "$auspex" train -n 2 "${toy[@]}" --data "$scratch/data" --steps 1
expect_refusal 1 "$lost" "$auspex" verify --steps 2 --layouts 1 --kills 0 --max-ranks 2 --json
