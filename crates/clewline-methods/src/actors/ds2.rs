//! DS2's rules on DS2's systems: what its harnesses say about each.

use clewline_actors::{Snapshots, compat::Published};

use super::Compat;

/// DS2's scheduler of that name, as its tables use it on the system of that name.
///
/// Its registers change their state in place, so that going back does not bring them back ([`Snapshots::Aliased`]). Its harnesses
/// list the messages in which LiViola sees a key; those of other systems list none.
///
/// # Errors
///
/// If there is no such scheduler.
pub fn ds2(system: &str, scheduler: &str) -> Result<Compat, String> {
    let published = Published::ALL.into_iter().find(|it| it.name() == scheduler).ok_or_else(|| {
        let names: Vec<&str> = Published::ALL.iter().map(|it| it.name()).collect();
        format!("expected --scheduler to be one of {}; found `{scheduler}`", names.join(", "))
    })?;
    let snapshots = match system {
        "dr" | "edr" => Snapshots::Aliased,
        _ => Snapshots::Sound,
    };
    Ok(Compat { published, snapshots, keyed: keyed(system) })
}

fn keyed(system: &str) -> &'static [&'static str] {
    match system {
        "dr" => &["Write", "WriteReplica", "Read", "ReadReplica"],
        "edr" => &["Write", "WriteReplica", "WriteReplicaAck", "Read", "ReadReplica", "ReadReplicaAck"],
        "adr" => &["Write", "Replication", "ReplicationAck", "Read", "ReadReplica", "ReadReplicaAck"],
        "open-chord" => &["UploadEntry", "UploadEntryResponse", "Request", "Response"],
        "paxos" => &["Propose", "Prepare", "Promise", "Nack", "Accept", "Accepted"],
        _ => &[],
    }
}
