#!/usr/bin/env bash
# The crate of the tutorial of the mailbox.
CLEWLINE_ONLY_MAKE=1 exec bash "${0%/*}/page-test.sh" docs/tutorials/mailbox.md 1 mailbox
