//! Systems with the keys that DS2's harnesses list.

use clewline_actors::{AnyActor, CallOf, Harness, Property, ReturnOf};

/// A harness with the keys that DS2's harness lists. They promise nothing.
#[derive(Debug)]
pub struct AsPublished<H> {
    harness: H,
    // The messages in which LiViola sees a key.
    listed: &'static [&'static str],
}

impl<H> AsPublished<H> {
    /// The harness of the system of that name; systems that DS2 does not have list nothing.
    pub fn new(system: &str, harness: H) -> Self {
        AsPublished { harness, listed: listed(system) }
    }
}

fn listed(system: &str) -> &'static [&'static str] {
    match system {
        "dr" => &["Write", "WriteReplica", "Read", "ReadReplica"],
        "edr" => &["Write", "WriteReplica", "WriteReplicaAck", "Read", "ReadReplica", "ReadReplicaAck"],
        "adr" => &["Write", "Replication", "ReplicationAck", "Read", "ReadReplica", "ReadReplicaAck"],
        "open-chord" => &["UploadEntry", "UploadEntryResponse", "Request", "Response"],
        // DS2 has reads in `Prepare` and `Promise`.
        "paxos" => {
            &["Propose", "Prepare", "PrepareRead", "Promise", "PromiseRead", "Nack", "Accept", "Accepted"]
        }
        _ => &[],
    }
}

impl<H: Harness> Harness for AsPublished<H> {
    type Message = H::Message;
    type Specification = H::Specification;

    fn specification(&self) -> H::Specification {
        self.harness.specification()
    }

    fn actors(&self) -> Vec<Box<dyn AnyActor<H::Message>>> {
        self.harness.actors()
    }

    fn request(&self, call: &CallOf<H>, n: u32) -> H::Message {
        self.harness.request(call, n)
    }

    fn response(&self, message: &H::Message) -> Option<ReturnOf<H>> {
        self.harness.response(message)
    }

    fn is_response_to(&self, request: &H::Message, response: &H::Message) -> bool {
        self.harness.is_response_to(request, response)
    }

    fn key(&self, message: &H::Message) -> Option<u64> {
        // The registers have a single one.
        let is_listed = self.listed.contains(&self.harness.name(message).as_str());
        is_listed.then(|| self.harness.published_key(message).unwrap_or(0))
    }

    fn name(&self, message: &H::Message) -> String {
        self.harness.name(message)
    }

    fn properties(&self) -> Vec<Property<H::Message>> {
        self.harness.properties()
    }
}
