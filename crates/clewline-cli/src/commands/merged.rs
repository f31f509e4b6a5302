//! The journals of all shards of one command, and what is wrong with them if they are not that.

use std::path::PathBuf;

use serde_json::Value as Json;

use super::{
    journal::ShardJournal,
    shard::Shard,
    status::{Failure, print_error},
};

/// The journals of all shards of one command: each is there once, and is finished.
#[derive(Debug)]
pub(super) struct Merged {
    /// By the number of the shard.
    pub(super) shards: Vec<ShardJournal>,
}

impl Merged {
    /// Reads the journals.
    ///
    /// # Errors
    ///
    /// If they are not those of all shards of one command. Each thing that is wrong is printed; the
    /// last is the error.
    pub(super) fn read(paths: &[PathBuf]) -> Result<Merged, Failure> {
        let (mut shards, mut wrong) = (Vec::new(), Vec::new());
        for path in paths {
            match ShardJournal::read(path) {
                Ok(shard) => shards.push(shard),
                Err(Failure::Message(message)) => wrong.push(message),
                Err(other) => return Err(other),
            }
        }
        let all = shards.len();
        if wrong.is_empty() {
            wrong.extend(differences(&shards));
        }
        if wrong.is_empty() {
            wrong.extend(gaps(&mut shards));
        }
        match wrong.pop() {
            None if all == 0 => Err(Failure::Message("expected journals of shards, found none".to_owned())),
            None => Ok(Merged { shards }),
            Some(last) => {
                wrong.iter().for_each(print_error);
                Err(Failure::Message(last))
            }
        }
    }

    /// The first shard: what is the same in all of them is taken from it.
    pub(super) fn first(&self) -> &ShardJournal {
        &self.shards[0]
    }

    /// The journal of the shard that the unit with this number belongs to, and the unit, if the
    /// shard came to it.
    pub(super) fn unit(&self, number: u64) -> (&ShardJournal, Option<&Json>) {
        let count = self.shards.len() as u64;
        let shard = &self.shards[(number % count) as usize];
        (shard, shard.units.get((number / count) as usize))
    }
}

/// What distinguishes the commands of the shards.
fn differences(shards: &[ShardJournal]) -> Vec<String> {
    let mut wrong = Vec::new();
    let Some(first) = shards.first() else { return wrong };
    for shard in shards {
        let name = shard.path.display();
        if !shard.is_of_this_program() {
            wrong.push(format!("{name}: it was written by another build of clewline"));
        } else if (&shard.command, shard.seed) != (&first.command, first.seed) {
            let (other, words) = (first.path.display(), first.arguments().join(" "));
            let own = shard.arguments().join(" ");
            wrong.push(format!("{name}: its command is `{own}`, and that of {other} is `{words}`"));
        } else if shard.shard.count != first.shard.count {
            let (other, own) = (first.shard, shard.shard);
            wrong.push(format!("{name}: it is shard {own}, and {} is shard {other}", first.path.display()));
        }
    }
    wrong
}

/// Which shards are missing, there twice or not finished. Sorts them by their numbers.
fn gaps(shards: &mut [ShardJournal]) -> Vec<String> {
    let mut wrong = Vec::new();
    shards.sort_by_key(|it| it.shard.index);
    let Some(count) = shards.first().map(|it| it.shard.count) else { return wrong };
    for pair in shards.windows(2).filter(|it| it[0].shard == it[1].shard) {
        let (one, other) = (pair[0].path.display(), pair[1].path.display());
        wrong.push(format!("shard {} is there twice: {one} and {other}", pair[0].shard));
    }
    let is_there = |index: &u64| shards.binary_search_by_key(index, |it| it.shard.index).is_ok();
    let missing: Vec<Shard> =
        (0..count).filter(|it| !is_there(it)).filter_map(|it| Shard::new(it, count)).collect();
    let shown: Vec<String> = missing.iter().take(MISSING_SHOWN_MAX).map(Shard::to_string).collect();
    match (missing.len(), shown.join(", ")) {
        (0, _) => (),
        (1, shown) => wrong.push(format!("shard {shown} is missing")),
        (n, shown) if n <= MISSING_SHOWN_MAX => wrong.push(format!("shards {shown} are missing")),
        (n, shown) => wrong.push(format!("shards {shown} and {} more are missing", n - MISSING_SHOWN_MAX)),
    }
    for shard in shards.iter().filter(|it| it.end.is_none()) {
        let (name, shard) = (shard.path.display(), shard.shard);
        wrong.push(format!("{name}: shard {shard} is not finished: the same command again continues it"));
    }
    wrong
}

// Of more missing shards only the number is given.
const MISSING_SHOWN_MAX: usize = 20;
