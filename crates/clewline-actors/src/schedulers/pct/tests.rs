//! The orders of chains that are drawn.

use clewline_core::Budget;

use super::*;
use crate::{
    Actor, ActorId, ActorSystem, Clients, Context, Rules,
    execution::Snapshots,
    samples::{Call, OneRequest, one_client_per_call},
};

/// The client that is to be sent a response, once it is known, and the messages left until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Message {
    Left(Option<ActorId>, u8),
    Done,
}

/// Sends itself messages, one after the other, before it responds: one chain.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Countdown;

impl Actor for Countdown {
    type Message = Message;

    fn on_message(&mut self, from: ActorId, message: &Message, context: &mut Context<Message>) {
        let Message::Left(client, left) = *message else { return };
        let client = client.unwrap_or(from);
        match left {
            0 => context.send(client, Message::Done),
            _ => context.send(context.me(), Message::Left(Some(client), left - 1)),
        }
    }
}

#[test]
fn of_two_lowered_chains_either_may_run_first() {
    let calls = [(Call::Read, 0), (Call::Read, 1)];
    let scenario = one_client_per_call(&calls, Clients::Tight);
    let harness = OneRequest {
        actors: || vec![Box::new(Countdown), Box::new(Countdown)],
        request: Message::Left(None, 3),
        done: Some(Message::Done),
    };
    let system = ActorSystem::new(harness, scenario, Rules::default()).expect("it fits");
    let mut execution = Execution::new(system.engine(), Snapshots::Sound);
    let (settings, budget) = (MessageSchedulerSettings::default(), Budget::unlimited());
    let mut statistics = Statistics::unjudged(&settings, &budget);
    // How many executions have this number of runs of steps of one chain.
    let mut runs = [0; 9];
    for seed in 0..1_000 {
        execution.rewind();
        let flow = sample(&mut execution, &mut Random::new(seed), &settings, 8, &mut statistics);
        assert!(flow.is_continue());
        let mut actors: Vec<ActorId> = execution.events().iter().map(|it| it.step.to).collect();
        assert_eq!(actors.len(), 8, "seed {seed}");
        actors.dedup();
        runs[actors.len()] += 1;
    }
    // Two change points. If both chains were lowered, the one that was lowered first goes on if
    // the second change point has the lower priority: three switches. A time has 8 values, and in
    // half of the executions the lower priority comes second.
    assert_eq!(runs[5..], [0; 4], "{runs:?}");
    assert!(100 < runs[4] && 100 < runs[3] && 100 < runs[2], "{runs:?}");
}
