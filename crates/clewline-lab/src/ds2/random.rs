//! DS2's random scheduler, by the rules as published.
//!
//! An actor or a client is picked at random, whether or not it has anything to receive. An actor
//! takes the first message of its queue, so that messages to one actor never overtake each other. A
//! client receives all its responses: until then its call has not returned. Requests are put into
//! the queues one by one, one a turn.
//!
//! In the published code runs start where earlier ones ended. That is not done here.

use std::collections::VecDeque;

use clewline_actors::{
    ActorId, EnabledStep, Execution, Flow, HistoryEvent, Statistics, StepIdentity, schedulers::Settings,
};
use clewline_core::Random;

/// The number of clients in each of DS2's harnesses, whichever of them call.
const CLIENTS: usize = 6;

/// Draws one schedule after the other.
pub(super) fn explore(walk: &mut Execution, settings: &Settings, tally: &mut Statistics<'_>) -> Flow {
    let mut random = Random::new(settings.seed);
    loop {
        walk.rewind();
        let chronicle = draw(walk, &mut random, settings.steps);
        tally.count_execution(walk, chronicle)?;
    }
}

/// One schedule, and what clients saw of it.
fn draw(walk: &mut Execution, random: &mut Random, steps: usize) -> Vec<HistoryEvent> {
    let actors = walk.engine().roots();
    let (requests, begun): (Vec<&EnabledStep>, Vec<&EnabledStep>) =
        walk.enabled().iter().partition(|it| it.from.is_client());
    let mut requests: VecDeque<(ActorId, StepIdentity)> =
        requests.into_iter().map(|it| (it.to, it.identity())).collect();
    let mut queues = vec![VecDeque::new(); actors];
    begun.into_iter().for_each(|it| put(&mut queues, it));
    let mut answers: Vec<Vec<HistoryEvent>> = vec![Vec::new(); CLIENTS];
    let mut chronicle = Vec::new();
    let is_left = |queues: &[VecDeque<StepIdentity>], answers: &[Vec<HistoryEvent>]| {
        queues.iter().any(|it| !it.is_empty()) || answers.iter().any(|it| !it.is_empty())
    };
    while !requests.is_empty() || is_left(&queues, &answers) {
        let who = random.below(actors + CLIENTS);
        if let Some((to, request)) = requests.pop_front() {
            queues[to.index() as usize].push_back(request);
        }
        if actors <= who {
            chronicle.append(&mut answers[who - actors]);
            continue;
        }
        let Some(first) = queues[who].pop_front() else { continue };
        let Some(at) = walk.enabled().iter().position(|it| it.identity() == first) else { continue };
        walk.take(at);
        let event = walk.events().len() as u32 - 1;
        let new = walk.enabled().iter().filter(|it| it.sent_by == Some(event));
        new.for_each(|it| put(&mut queues, it));
        for event in walk.events()[event as usize].history.clone() {
            match event {
                HistoryEvent::Call(_) => chronicle.push(event),
                HistoryEvent::Return(operation, _) => {
                    let client = walk.engine().client_of(operation).index() as usize;
                    answers[client % CLIENTS].push(event);
                }
            }
        }
        if steps <= walk.events().len() {
            break;
        }
    }
    chronicle
}

fn put(queues: &mut [VecDeque<StepIdentity>], receive: &EnabledStep) {
    if let Some(queue) = queues.get_mut(receive.to.index() as usize) {
        queue.push_back(receive.identity());
    }
}
