#!/usr/bin/env bash
# Makes a crate of a block of Rust on a page, beside the clone, and runs its tests:
#     page-test.sh PAGE NUMBER NAME [FEATURE,…]
# The block is src/NAME.rs. With CLEWLINE_ONLY_MAKE set, the crate is only made.
set -euo pipefail
page=$PWD/$1 number=$2 name=$3 features=${4-}
pages=$PWD/../pages
mkdir -p "$pages/.cargo" "$pages/$name/src"
printf '[env]\nCLEWLINE_REGRESSIONS = "off"\n[build]\ntarget-dir = "%s"\n' "$PWD/target/pages" > "$pages/.cargo/config.toml"
cp Cargo.lock "$pages/$name"
cd "$pages/$name"
cat > Cargo.toml <<TOML
[package]
name = "$name"
version = "0.1.0"
edition = "2024"

[dependencies]
clewline = { path = "../../clewline/crates/clewline", features = [${features:+\"${features//,/\", \"}\"}] }

[profile.dev.package."*"]
debug = false
TOML
printf 'pub mod %s;\n' "$name" > src/lib.rs
awk -v number="$number" '/^```rust/ { n++; inside = n == number; next } /^```/ { inside = 0 } inside' "$page" > "src/$name.rs"
test -s "src/$name.rs"
[ -n "${CLEWLINE_ONLY_MAKE-}" ] || cargo test --quiet --lib
