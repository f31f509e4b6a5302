//! A simulated key-value store, recorded in the format of porcupine's test data.
//!
//! Clients are always busy: as soon as one has a response it calls again, so with 50 clients nearly
//! 50 operations are open at any time. Each operation takes effect at one moment between its call
//! and its return, so the log is linearizable. The mix is that of porcupine's own recordings: gets,
//! nearly as many appends of texts that occur once, and one put in twenty operations.

use std::fmt::Write;

use clewline_core::Random;

/// What a simulated run looks like.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// How many clients there are.
    pub clients: usize,
    /// How many keys.
    pub keys: usize,
    /// How many operations they call together.
    pub operations: usize,
    /// One client in this many is slow: its operations stay open 16 times as long. 0: none is.
    pub slow: usize,
    /// The random seed.
    pub seed: u64,
}

enum Doing {
    Nothing,
    Waiting(Call),
    Returning(Call, String),
}

struct Call {
    method: &'static str,
    key: usize,
    value: String,
}

impl Run {
    /// The log, in the format `porcupine-kv`.
    #[must_use]
    pub fn log(&self) -> String {
        let mut random = Random::new(self.seed);
        let mut log = String::new();
        let mut store = vec![String::new(); self.keys];
        let mut doing: Vec<Doing> = (0..self.clients).map(|_| Doing::Nothing).collect();
        let mut counts = vec![0; self.clients];
        let (mut called, mut returned) = (0, 0);
        while returned < self.operations {
            let client = random.below(self.clients);
            if self.slow != 0 && client.is_multiple_of(self.slow) && random.below(16) != 0 {
                continue;
            }
            match std::mem::replace(&mut doing[client], Doing::Nothing) {
                Doing::Waiting(call) => {
                    let response = call.take_effect(&mut store[call.key]);
                    doing[client] = Doing::Returning(call, response);
                    continue;
                }
                Doing::Returning(call, response) => {
                    returned += 1;
                    call.write(client, "ok", &format!("{response:?}"), &mut log);
                }
                Doing::Nothing => (),
            }
            if called < self.operations {
                called += 1;
                let call = Call::draw(client, counts[client], self.keys, &mut random);
                counts[client] += 1;
                let value = if call.method == "get" { "nil".to_owned() } else { format!("{:?}", call.value) };
                call.write(client, "invoke", &value, &mut log);
                doing[client] = Doing::Waiting(call);
            }
        }
        log
    }
}

impl Call {
    fn draw(client: usize, count: usize, keys: usize, random: &mut Random) -> Call {
        let method = match random.below(20) {
            0 => "put",
            1..=9 => "append",
            _ => "get",
        };
        Call { method, key: random.below(keys), value: format!("x {client} {count} y") }
    }

    fn take_effect(&self, content: &mut String) -> String {
        match self.method {
            "get" => return content.clone(),
            "put" => content.clone_from(&self.value),
            _ => content.push_str(&self.value),
        }
        self.value.clone()
    }

    fn write(&self, client: usize, kind: &str, value: &str, log: &mut String) {
        let Call { method, key, .. } = self;
        let _ = writeln!(
            log,
            r#"{{:process {client}, :type :{kind}, :f :{method}, :key "{key}", :value {value}}}"#
        );
    }
}
