# HOME is not set, or is no folder.
surrounding=(env -u HOME)
expect_same predict train prepare verify compare
surrounding=(env HOME=/dev/null)
expect_same train
